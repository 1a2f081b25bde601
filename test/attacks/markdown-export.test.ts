// A transcript that leaves as Markdown is opened in viewers that run HTML, load images and follow links: each export is neutral there.
import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, test } from 'vitest';
import { checkpoint, fork } from '../../src/core/chain/index.js';
import { exportExperiment, saveExperiment } from '../../src/core/experiments/index.js';
import { exportComparison, exportContext } from '../../src/core/export/index.js';
import { neutralMarkdown } from '../../src/core/formats/index.js';
import { answer, call, prompt, result } from '../support/claude-lines.js';
import { door } from '../support/door.js';
import { emptyChain } from '../support/project.js';
import { runs } from '../support/properties.js';

/** Both kinds of viewers, as careless as they can be: HTML and every protocol pass. */
const viewers = {
  commonmark: (text: string): string => micromark(text, { allowDangerousHtml: true, allowDangerousProtocol: true }),
  gfm: (text: string): string =>
    micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true, allowDangerousProtocol: true }),
};

/** Tags that a viewer makes of Markdown, and the two that our documents contain. */
const harmless =
  /^<\/?(?:p|h[1-6]|ul|ol|li|pre|code|em|strong|del|blockquote|hr|br|table|thead|tbody|tr|th|td|sup|section|details|summary)(?: (?:class="[^"<>]*"|start="\d+"|align="\w+"|id="[\w%./-]*"|aria-describedby="[\w-]*"|data-footnotes=""))* ?\/?>$/;
const link = /^<a href="(?:https?:\/\/|mailto:|#|[^":/]*[/"])[^>]*>$|^<\/a>$/;
const taskBox = /^<input type="checkbox" disabled=""(?: checked="")? \/>$/;

/** Every tag of a page that could run or load something. */
const dangers = (html: string): string[] =>
  (html.match(/<[a-z/!?][^>]*>?/gi) ?? []).filter((tag) => ![harmless, link, taskBox].some((one) => one.test(tag)));
const shownDangers = (text: string): string[] => Object.values(viewers).flatMap((view) => dangers(view(text)));

/** One line of explanation each. */
const attacks: Readonly<Record<string, string>> = {
  'a script': '<script>globalThis.ran = 1</script>',
  'an image whose failure runs a script': 'see <img src=x onerror="globalThis.ran = 1"> here',
  'an image that tells its host about the reader': '![a picture](http://127.0.0.1:9/pixel.png)',
  'an image by reference': '![a picture][pic]\n\n[pic]: http://127.0.0.1:9/pixel.png "title"',
  'an image inside a link': '[![build](http://127.0.0.1:9/badge.svg)](http://127.0.0.1:9/ci)',
  'an image with brackets in its label': '![a [b](c) ![d](http://127.0.0.1:9/d) e](http://127.0.0.1:9/pixel.png)',
  'an image that HTML hides from a parser':
    '<div>\n![x](http://127.0.0.1:9/a)\n<img src="http://127.0.0.1:9/b">\n</div>\n\n![x](http://127.0.0.1:9/c)',
  'a link that runs': 'a [click me](javascript:globalThis.ran=1) link',
  'a link that runs, spelled with entities': '[click](&#106;avascript&colon;globalThis.ran=1)',
  'a link that runs, with a line break in its scheme': '[click](<java&#10;script:globalThis.ran=1>)',
  'a link to a page inside of it': '[data](data:text/html,<script>globalThis.ran=1</script>)',
  'a link that runs, by reference': '[click][a]\n\n[a]: javascript:globalThis.ran=1',
  'a link that runs, between angle brackets': '<javascript:globalThis.ran=1>',
  'a link to a local file': '[notes](file:///etc/passwd)',
  'an open comment that hides what follows': '<!-- everything after this is gone',
  'a frame': '<iframe src="http://127.0.0.1:9/"></iframe>',
  'a style sheet': '<style>@import url(http://127.0.0.1:9/)</style>',
  'a tag over two lines': 'x <img\nsrc="http://127.0.0.1:9/">',
  'a tag that is cut off': 'x <img src="http://127.0.0.1:9/" ',
  'a declaration and a processing instruction': '<!DOCTYPE html>\n\n<?php echo 1 ?>\n\n<![CDATA[ x ]]>',
  'a tag in a cell that looks like code without tables': '| a | b |\n|---|---|\n| `x | <img src="http://127.0.0.1:9/"> y` |',
  'a tag that only looks like code in a table': '| x ` | `<img src="http://127.0.0.1:9/">` |',
  'a tag in a footnote': 'x[^1]\n\n[^1]: <img src="http://127.0.0.1:9/">',
  'a tag after a code block that is not open': '```\ncode\n```\n<b onclick="globalThis.ran=1">x</b>',
  'a code block that stays open, so that the next one is turned around': '```\n',
  'what the turned code block holds': '```\n<img src="http://127.0.0.1:9/">\n```',
  'an open code block with bare carriage returns': '```\rcode\r```\r<img src="http://127.0.0.1:9/">',
  'a fence of tildes in a quote and a list': '> ~~~\n> <b>\n\n- ```\n  <i>\n\n<img src="http://127.0.0.1:9/">',
  'a definition that an image of another entry uses': '[other]: http://127.0.0.1:9/other.png',
  'the image that uses it': '![][other] ![other] ![x][other]',
  'a code fence that closes the details of the document': '````\n</details>\n````\n</details><img src="http://127.0.0.1:9/">',
};

/** These need another entry, or a viewer more careless than these two. */
const harmlessAlone = [
  'a tag that is cut off',
  'a code block that stays open, so that the next one is turned around',
  'what the turned code block holds',
  'a definition that an image of another entry uses',
  'the image that uses it',
];

describe('[T64] Markdown of a transcript is neutral in a viewer', () => {
  test.each(Object.entries(attacks))('%s', (name, attack) => {
    expect(shownDangers(attack).length > 0).toBe(!harmlessAlone.includes(name));
    expect(shownDangers(neutralMarkdown(attack))).toEqual([]);
  });

  test('all of them in one conversation, in every field, in every export that is Markdown', { tags: 'long' }, () => {
    const chain = emptyChain();
    const all = Object.values(attacks);
    let parent: string | undefined;
    const lines = all.flatMap((attack, at) => {
      const [p, c, r, a] = ['p', 'c', 'r', 'a'].map((letter) => `${letter}${at}`) as [string, string, string, string];
      const before = parent;
      parent = a;
      return [
        prompt(p, attack, before === undefined ? {} : { parent: before }),
        call(c, `t${at}`, attack, { [attack]: attack }, { parent: p }),
        result(r, `t${at}`, attack, { parent: c }),
        answer(a, attack, { parent: r }),
      ];
    });
    const base = { parent: null, type: 'delta', format: 'claude-code-v1', template: 'x', checkpoint: 'explicit' } as const;
    const tip = checkpoint(chain, { ...base, text: lines.join('') });
    const texts = all.map((attack) => ({ role: 'user', kind: 'text', text: attack }) as const);
    const other = fork(chain, { id: tip.id, edits: texts.map((entry) => ({ op: 'append', entry })) });
    for (const format of ['markdown', 'narrative'])
      for (const { id } of [tip, other]) expect(shownDangers(exportContext(chain, { id, format }).text ?? ''), format).toEqual([]);
    expect(shownDangers(exportComparison(chain, { ids: [tip.id, other.id] }).text ?? ''), 'comparison').toEqual([]);
    const cases = all.map((attack) => ({ title: attack.slice(0, 100), turnId: tip.id, provider: 'recorded' }));
    const { experimentId } = saveExperiment(chain, { title: all.join(' ').slice(0, 200), cases, note: all.join('\n').slice(0, 1_000) } as never);
    expect(shownDangers(exportExperiment(chain, { experimentId, format: 'markdown' }).text ?? ''), 'experiment').toEqual([]);
  });

  test('the procedure of the contract writes it neutral too', async () => {
    const { client } = door();
    const text = Object.values(attacks)
      .map((attack, at) => prompt(`u${at}`, attack, at > 0 ? { parent: `u${at - 1}` } : {}))
      .join('');
    const base = { parent: null, type: 'delta', format: 'claude-code-v1', template: 't', checkpoint: 'explicit' } as const;
    const { id } = await client.context.checkpoint({ ...base, text });
    expect(shownDangers((await client.export.context({ id, format: 'markdown' })).text ?? '')).toEqual([]);
  });

  const pieces = [
    ...'`~<>![]()|-* \n\\"\'',
    '```',
    '~~~',
    '\n\n',
    '    ',
    '> ',
    '- ',
    '1. ',
    '<b>',
    '<img src=x>',
    '<!--',
    '-->',
    '<div>\n',
    '](javascript:x)',
  ];
  const fragments = [
    ...pieces,
    '![a](b)',
    '[a]: ',
    '[a]',
    '[^1]: ',
    '| - |\n',
    'word',
    '&lt;',
    '&#60;',
    '<script>',
    '</script>',
    'https://example.org',
    '\r',
    '\t',
  ];

  test('whatever is put together of the signs of Markdown, alone and after another such text', { tags: 'long' }, () => {
    const texts = fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        expect(shownDangers(`${neutralMarkdown(one)}\n\n${neutralMarkdown(two)}\n\n**after**\n`)).toEqual([]);
      }),
      { numRuns: runs(1_500) },
    );
  });

  test('no text takes long, whatever it is made of', { tags: 'long' }, () => {
    for (const part of ['*a_ ', '[', '![', '<a ', '[a](<b ', '`'.repeat(9), '> ', '<div>\n```\n', '| a `', '[^1]: ']) {
      // Parsed, and too long to be parsed. Work that grows with the square would run into the limit of the test.
      expect(neutralMarkdown(part.repeat(Math.ceil(59_000 / part.length)))).not.toBe('');
      expect(neutralMarkdown(part.repeat(Math.ceil(1_000_000 / part.length)))).not.toBe('');
    }
  });
});

describe('[T64] texts stay readable', () => {
  test.each([
    ['plain text, emphasis and lists stay', '**Done.** 1 < 2 && 3 > 2\n\n- a\n  - b', '**Done.** 1 < 2 && 3 > 2\n\n- a\n  - b'],
    [
      'code stays',
      'Use `<b>`:\n\n```html\n<img src="x">![a](b)\n```\n\n    <indented>',
      'Use `<b>`:\n\n```html\n<img src="x">![a](b)\n```\n\n    <indented>',
    ],
    [
      'links to the web, to mail and to files stay',
      '[a](https://example.org "t") <https://example.org> [b](src/a.ts) <a@b.c>',
      '[a](https://example.org "t") <https://example.org> [b](src/a.ts) <a@b.c>',
    ],
    ['a tag is shown', 'The <Button> of <div class="a">', 'The &lt;Button> of &lt;div class="a">'],
    ['an image is shown as it was written', 'see ![the plan](https://example.org/z.png)', 'see !\\[the plan\\](https://example.org/z.png)'],
    ['a link that runs shows where it leads', '[me](javascript:x)', '\\[me\\](javascript:x)'],
    ['code between tags stays code', '<details>\n\n```js\na < b\n```\n\n</details>', '&lt;details>\n\n```js\na < b\n```\n\n&lt;/details>'],
    ['an open code block is closed', 'so:\n\n~~~~js\nlet x', 'so:\n\n~~~~js\nlet x\n~~~~'],
  ])('%s', (_, text, expected) => {
    expect(neutralMarkdown(text)).toBe(expected);
  });

  test('a very long text becomes a code block', () => {
    const text = `<b>${'word '.repeat(20_000)}`;
    expect(neutralMarkdown(text)).toBe(`\`\`\`\n${text.trim()}\n\`\`\``);
  });
});
