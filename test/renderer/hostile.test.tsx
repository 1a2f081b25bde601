import './page.js';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { type Entry, toolClasses } from '../../src/core/contract/index.js';
import { EntryView, ToolView } from '../../src/renderer/parts/Entry.js';
import { Markdown } from '../../src/renderer/parts/Markdown.js';
import { entry } from './make.js';

const attacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<iframe src="https://evil.invalid"></iframe>',
  '<svg onload=alert(1)><a href="javascript:alert(1)">x</a></svg>',
  '![pixel](https://evil.invalid/pixel.png)',
  '![data](data:text/html,<script>alert(1)</script>)',
  '[click](javascript:alert(1))',
  '[click](https://evil.invalid/?steal=1)',
  '<https://evil.invalid>',
  'https://evil.invalid/auto',
  '[ref]: https://evil.invalid\n\n[ref]',
  '| a |\n| - |\n| <b onclick=alert(1)>x</b> |',
  '<style>body{display:none}</style>',
  '`<script>`',
  '```html\n<script>alert(1)</script>\n```',
];

/** Elements and attributes that can load or run something. The text of a transcript must produce none of them. */
const actingElement = /^<(?:script|img|iframe|object|embed|link|style|form|video|audio|base|meta|a)$/i;
const actingAttribute = /^(?:href|src|srcset|action|formaction|style|on[a-z]+)$/i;

/** The active elements and attributes of markup. Values are ignored, because a value may contain any text. */
const actingIn = (html: string): string[] =>
  [...html.matchAll(/<[a-z][^>]*>/gi)].flatMap(([tag]) => {
    const [name = '', ...attributes] = tag
      .replace(/="[^"]*"/g, '')
      .replace(/\/?>$/, '')
      .split(/\s+/);
    return [name, ...attributes].filter((word) => actingElement.test(word) || actingAttribute.test(word));
  });

test('active elements and attributes are found', () => {
  expect(actingIn('<p>x</p><img src="x" alt="&lt;a href"><a href="y"><b onclick="z">')).toEqual(['<img', 'src', '<a', 'href', 'onclick']);
});

describe('the text of a transcript', () => {
  test.each(attacks)('as Markdown is only text: %s', (text) => {
    expect(actingIn(renderToStaticMarkup(<Markdown text={text} />))).toEqual([]);
  });

  test('a link and an image are named but not followed', () => {
    const html = renderToStaticMarkup(<Markdown text="![a pixel](https://evil.invalid/p.png) [here](https://evil.invalid)" />);
    expect(html).toContain('Image not loaded: a pixel');
    expect(html).toContain('here');
    expect(html.match(/<button/g)).toHaveLength(2);
  });

  test('Markdown is still formatted', () => {
    const html = renderToStaticMarkup(<Markdown text={'# Title\n\n- **one**\n\n| a |\n| - |\n| 1 |'} />);
    for (const tag of ['<h1>', '<li>', '<strong>', '<td>']) expect(html).toContain(tag);
  });

  const everywhere = (text: string): Entry[] => [
    entry('user', 'text', { text }),
    entry('assistant', 'text', { text, author: text }),
    entry('assistant', 'thinking', { text, marks: [text] }),
    entry('user', 'summary', { text }),
    entry('system', 'event', { text, toolName: text }),
    entry('system', 'event', { result: { [text]: text } }),
    entry('tool', 'tool_result', { text, toolName: text }),
    entry('tool', 'tool_result', { result: [{ type: 'text', text }], isError: true }),
    entry('user', 'image', { media: { artifactRef: `blake3:${'0'.repeat(64)}` as never, mediaType: `text/html;${text}` } }),
  ];

  test.each(attacks)('does nothing in any kind of entry: %s', (text) => {
    for (const one of everywhere(text)) expect(actingIn(renderToStaticMarkup(<EntryView entry={one} />))).toEqual([]);
  });

  const tools = [...toolClasses, undefined].flatMap((toolClass) => ['Tool', '__proto__', '<img src=x>'].map((toolName) => ({ toolName, toolClass })));

  test.each(attacks)('does nothing in any tool: %s', (text) => {
    for (const tool of tools) {
      for (const input of [
        text,
        [text],
        null,
        7,
        { command: text, description: text, file_path: text, old_string: text, new_string: `${text}!`, content: text, edits: [text] },
      ]) {
        const called = entry('assistant', 'tool_call', { ...tool, toolCallId: 't', arguments: input });
        const html = renderToStaticMarkup(<ToolView call={called} result={entry('tool', 'tool_result', { text, toolCallId: 't' })} />);
        expect(actingIn(html)).toEqual([]);
      }
    }
  });

  test('an empty entry is shown as empty', () => {
    for (const kind of ['text', 'thinking', 'tool_call', 'tool_result', 'image', 'summary', 'event'] as const) {
      expect(renderToStaticMarkup(<EntryView entry={entry('assistant', kind)} />)).toContain('<article');
    }
    expect(renderToStaticMarkup(<ToolView call={entry('assistant', 'tool_call')} result={null} />)).toContain('No result');
  });
});
