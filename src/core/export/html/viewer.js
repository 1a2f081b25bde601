// What an exported page runs: it sets the entries that are near, plays them one after the other, and finds words in all of them.
// Everything it shows it makes of text nodes; the page's policy would refuse it to make markup of a text even if it wanted to.

/**
 * @typedef {{
 *   key: string, kind: string, role?: string, text?: string, tool?: string, call?: string, input?: unknown, failed?: boolean,
 *   media?: { type: string, size: number, data?: string }, result?: unknown, at?: number, by?: string, marks?: string[],
 *   tokens?: number | { before: number, after: number }, said?: string[], branches?: { id: string, head: string }[],
 * }} Item
 * @typedef {{
 *   id: string, title: string, template: string, principal: string | null, stop: string, kinds: string, times: (number | null)[],
 *   blocks: [count: number, height: number][], prompts: [at: number, head: string][], commits: [at: number, id: string][],
 * }} Index
 */

(() => {
  const root = document.documentElement;
  /** @type {Index} */
  const index = JSON.parse(document.getElementById('index')?.textContent ?? '');
  const sources = [...document.querySelectorAll('script.block')].map((block) => block.textContent ?? '');
  const total = index.kinds.length;
  /**
   * The number of the first entry of each block.
   * @type {number[]}
   */
  const starts = [];
  for (const [at] of index.blocks.entries()) starts.push((starts[at - 1] ?? 0) + (index.blocks[at - 1]?.[0] ?? 0));
  const blockOf = (/** @type {number} */ at) => starts.findLastIndex((start) => start <= at);
  /** @returns {Item[]} */
  const itemsOf = (/** @type {number} */ block) => JSON.parse(sources[block] ?? '[]');

  // --- elements -------------------------------------------------------------------------------------------------------

  /**
   * An element of text and elements, never of markup.
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {Record<string, string | boolean | undefined>} given
   * @param {(Node | string | undefined)[]} inside
   * @returns {HTMLElementTagNameMap[T]}
   */
  function make(tag, given = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(given))
      if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value);
    made.append(...inside.filter((part) => part !== undefined));
    return made;
  }

  /** @param {string} path @param {string} name @param {() => void} act */
  function button(path, name, act) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 16 16');
    svg.setAttribute('aria-hidden', 'true');
    const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    shape.setAttribute('d', path);
    svg.append(shape);
    const made = make('button', { type: 'button', 'aria-label': name, title: name }, svg);
    made.addEventListener('click', act);
    return {
      made,
      draw: (/** @type {string} */ next, /** @type {string} */ called) => {
        shape.setAttribute('d', next);
        made.setAttribute('aria-label', called);
        made.title = called;
      },
    };
  }
  const shapes = {
    first: 'M3 3h2v10H3zM13 3v10L6 8z',
    back: 'M11 3v10L4 8z',
    play: 'M4 2.5v11l9-5.5z',
    pause: 'M4 3h3v10H4zM9 3h3v10H9z',
    on: 'M5 3v10l7-5z',
    up: 'M8 4l5 6H3z',
    down: 'M8 12L3 6h10z',
    list: 'M2 3h12v2H2zM2 7h8v2H2zM2 11h12v2H2z',
    shade: 'M8 1a7 7 0 100 14A7 7 0 008 1zm0 2v10a5 5 0 000-10z',
  };

  // --- texts ----------------------------------------------------------------------------------------------------------

  /** @param {number} bytes */
  const sizeOf = (bytes) => (bytes < 1_000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const tokensOf = (/** @type {number} */ count) => (count < 1_000 ? `≈ ${count} tok` : `≈ ${(count / 1_000).toFixed(1)}k tok`);
  const numberOf = (/** @type {number} */ count) => count.toLocaleString('en-US');
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  const shortId = (/** @type {string} */ id) => id.slice(0, 12);

  /** Where a link may lead: the web and mail, nothing that runs. @param {string} address */
  function linkOf(address) {
    try {
      const url = new URL(address);
      return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {string} text @param {string} address */
  function link(text, address) {
    const url = linkOf(address);
    if (!url) return text === address ? text : `${text} (${address})`;
    const made = make('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow', title: url.href }, text);
    // What a link says need not be where it leads.
    if (text.includes(url.host || address)) return made;
    return make('span', {}, made, ' ', make('span', { class: 'goes' }, `(${url.host || url.href})`));
  }

  const inline = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|!?\[([^\]\n]*)\]\(([^\s)]+)\)|\bhttps?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]]/g;
  /** Code, bold and links of a line. @param {string} text @returns {(Node | string)[]} */
  function words(text) {
    /** @type {(Node | string)[]} */
    const parts = [];
    let done = 0;
    for (const match of text.matchAll(inline)) {
      const [whole, code, bold, label, address] = match;
      parts.push(text.slice(done, match.index));
      if (code !== undefined) parts.push(make('code', {}, code));
      else if (bold !== undefined) parts.push(make('strong', {}, ...words(bold)));
      else if (address === undefined) parts.push(link(whole, whole));
      // A picture from elsewhere would tell its host who reads: it is named, not loaded.
      else parts.push(whole.startsWith('!') ? `[image: ${label || address}]` : link(label || address, address));
      done = match.index + whole.length;
    }
    parts.push(text.slice(done));
    return parts;
  }

  /** Markdown as people read it: blocks by their first signs, everything else as it was typed. @param {string} text */
  function markdown(text) {
    const lines = text.split('\n');
    const made = document.createDocumentFragment();
    /** @type {string[]} */
    let prose = [];
    const flush = () => {
      const said = prose.join('\n').trim();
      if (said) made.append(make('p', {}, ...words(said)));
      prose = [];
    };
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? '';
      const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
      const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/.test(line);
      const list = !rule && /^\s*(?:[-*+]|(\d+)[.)])\s+/.exec(line);
      const heading = /^(#{1,6})\s+(.*)$/.exec(line);
      if (fence) {
        flush();
        const code = [];
        for (at++; at < lines.length && !(lines[at] ?? '').trim().startsWith(fence); at++) code.push(lines[at]);
        made.append(make('pre', {}, code.join('\n')));
      } else if (heading) {
        flush();
        made.append(make((heading[1] ?? '').length < 3 ? 'h3' : 'h4', {}, ...words(heading[2] ?? '')));
      } else if (list) {
        flush();
        const items = [];
        for (; at < lines.length && /^\s*(?:[-*+]|\d+[.)])\s+|^\s{2,}\S/.test(lines[at] ?? ''); at++) items.push(lines[at] ?? '');
        at--;
        made.append(listOf(items, list[1]));
      } else if (/^\s*>/.test(line)) {
        flush();
        const quoted = [];
        for (; at < lines.length && /^\s*>/.test(lines[at] ?? ''); at++) quoted.push((lines[at] ?? '').replace(/^\s*> ?/, ''));
        at--;
        made.append(make('blockquote', {}, make('p', {}, ...words(quoted.join('\n')))));
      } else if (/^\s*\|.*\|\s*$/.test(line) && /^\s*\|[\s:|-]+\|\s*$/.test(lines[at + 1] ?? '')) {
        flush();
        const rows = [line];
        for (at += 2; at < lines.length && /^\s*\|.*\|\s*$/.test(lines[at] ?? ''); at++) rows.push(lines[at] ?? '');
        at--;
        made.append(tableOf(rows));
      } else if (rule) {
        flush();
        made.append(make('hr'));
      } else if (line.trim() === '') flush();
      else prose.push(line);
    }
    flush();
    return made;
  }

  /** @param {string[]} lines @param {string | undefined} first */
  function listOf(lines, first) {
    const made = first === undefined ? make('ul') : make('ol', { start: first });
    for (const line of lines) {
      const said = line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, '');
      if (said === line) made.lastElementChild?.append('\n', ...words(line.trim()));
      else {
        const item = make('li', {}, ...words(said));
        item.style.marginLeft = `${Math.min(6, Math.floor((/^\s*/.exec(line)?.[0].length ?? 0) / 2))}em`;
        made.append(item);
      }
    }
    return made;
  }

  /** @param {string[]} rows */
  function tableOf(rows) {
    const cells = (/** @type {string} */ row) =>
      row
        .trim()
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
    const [head = '', ...rest] = rows;
    return make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...cells(head).map((cell) => make('th', {}, ...words(cell))))),
      make('tbody', {}, ...rest.map((row) => make('tr', {}, ...cells(row).map((cell) => make('td', {}, ...words(cell)))))),
    );
  }

  /** More than this is set when it is asked for. */
  const long = 60_000;
  /** A text as it is; of a very long one its beginning, and the rest on request. @param {string} text */
  function verbatim(text) {
    if (text.length <= long) return make('pre', { tabindex: '0' }, text);
    const box = make('pre', { tabindex: '0' }, text.slice(0, long));
    const more = make('button', { type: 'button' }, `Show all ${sizeOf(text.length)}`);
    more.addEventListener('click', () => {
      box.textContent = text;
      more.remove();
    });
    return make('div', {}, box, more);
  }

  // --- entries --------------------------------------------------------------------------------------------------------

  /** Something folded, that is made when it is opened. @param {(Node | string | undefined)[]} head @param {() => Node} body */
  function folded(head, body) {
    const made = make('details', {}, make('summary', {}, ...head));
    made.addEventListener('toggle', () => made.open && made.childElementCount === 1 && made.append(body()));
    return made;
  }

  const leads = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt'];
  /** A call's input in a few words. @param {unknown} input */
  function leadOf(input) {
    if (typeof input !== 'object' || input === null) return input === undefined ? '' : String(input);
    const members = /** @type {Record<string, unknown>} */ (input);
    const found = [...leads.map((name) => members[name]), ...Object.values(members)].find((value) => typeof value === 'string' && value !== '');
    return typeof found === 'string' ? (found.split('\n', 1)[0] ?? '').slice(0, 300) : JSON.stringify(input).slice(0, 300);
  }

  /** @param {unknown} input */
  function fields(input) {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return verbatim(typeof input === 'string' ? input : JSON.stringify(input, null, 2));
    const list = make('dl');
    for (const [name, value] of Object.entries(input)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      list.append(make('dt', {}, name), make('dd', {}, verbatim(text)));
    }
    return list;
  }

  /** @param {Item} item */
  function picture({ media }) {
    if (!media) return make('p', { class: 'muted' }, 'An image that the session only links to: not loaded.');
    const said = `${media.type}, ${sizeOf(media.size)}`;
    if (media.data === undefined) return make('p', { class: 'muted' }, `A file, ${said}: not shown.`);
    return make('img', { src: `data:${media.type};base64,${media.data}`, alt: `Image, ${said}`, loading: 'lazy' });
  }

  const firstLine = (/** @type {string} */ text) => (/\S[^\n]*/.exec(text)?.[0] ?? '').slice(0, 300);
  const linesIn = (/** @type {string} */ text) => {
    const count = text.split('\n').length;
    return count > 1 ? `${numberOf(count)} lines, ${sizeOf(text.length)}` : sizeOf(text.length);
  };

  /** What an entry shows below its head line, or folded. @param {Item} item @param {string} letter @returns {Node[]} */
  function bodyOf(item, letter) {
    const text = item.text ?? '';
    const lead = (/** @type {string} */ said) => make('span', { class: 'lead mono' }, said);
    const name = (/** @type {string} */ said) => make('span', { class: 'name' }, said);
    const size = (/** @type {string} */ said) => make('span', { class: 'size muted' }, said);
    if (item.kind === 'image') return [who(item, letter), picture(item)];
    switch (letter) {
      case 'h':
        return text === ''
          ? [make('div', { class: 'who muted' }, 'Thinking that only its provider can read')]
          : [folded([name('Thinking'), lead(firstLine(text)), size(sizeOf(text.length))], () => make('div', { class: 'said' }, markdown(text)))];
      case 't':
        return [folded([name(item.tool ?? 'tool'), lead(leadOf(item.input))], () => fields(item.input))];
      case 'r':
      case 'e':
        return [
          folded(
            [
              name(letter === 'e' ? 'failed' : 'result'),
              item.tool === undefined ? undefined : make('span', { class: 'tool muted' }, item.tool),
              lead(firstLine(text) || (text ? '' : 'nothing')),
              size(text ? linesIn(text) : ''),
            ],
            () => verbatim(text),
          ),
        ];
      case 's':
        return [
          folded(
            [
              name(item.kind === 'event' ? (item.tool ?? 'event') : item.role === 'system' ? 'System' : 'Put in by the runtime'),
              lead(firstLine(text)),
              size(sizeOf(text.length)),
            ],
            () => verbatim(text || JSON.stringify(item.result ?? '', null, 2)),
          ),
        ];
      default:
        return [who(item, letter), make('div', { class: 'said' }, markdown(text))];
    }
  }

  /** @param {Item} item @param {string} letter */
  function who(item, letter) {
    const names = /** @type {Record<string, string>} */ ({ u: 'User', a: 'Assistant', m: 'Summary of what came before', r: 'Tool', s: 'System' });
    const time =
      item.at === undefined ? undefined : make('time', { class: 'muted', datetime: new Date(item.at).toISOString() }, clock.format(item.at));
    const by = letter === 'a' && item.by ? make('span', { class: 'muted' }, item.by) : undefined;
    const anchor = make('a', { class: 'anchor', href: `#${encodeURIComponent(item.key)}`, title: 'Link to this entry' }, '#');
    return make('div', { class: 'who' }, make('b', {}, names[letter] ?? 'Entry'), by, time, anchor);
  }

  /** @param {Item} item */
  function seam(item) {
    if (item.branches) {
      const count = item.branches.length;
      return make(
        'div',
        { class: 'seam' },
        `${count === 1 ? 'Another branch goes' : `${count} other branches go`} on from here`,
        make('ul', {}, ...item.branches.map(({ id, head }) => make('li', {}, make('span', { class: 'mono' }, shortId(id)), ` ${head}`))),
      );
    }
    const tokens = typeof item.tokens === 'object' ? `: ${tokensOf(item.tokens.before)} became ${tokensOf(item.tokens.after)}` : '';
    const said = (item.said ?? []).join('\n\n');
    return make(
      'div',
      { class: 'seam' },
      make('b', {}, 'Compaction'),
      tokens ? tokens.slice(2) : 'what came before was replaced by a summary',
      said
        ? folded([make('span', { class: 'name' }, 'What took its place'), make('span', { class: 'size muted' }, sizeOf(said.length))], () =>
            make('div', { class: 'said' }, markdown(said)),
          )
        : undefined,
    );
  }

  /** Longer pauses are said, and played short. */
  const pause = 5 * 60_000;
  const spanOf = (/** @type {number} */ ms) => {
    const minutes = Math.round(ms / 60_000);
    return minutes < 120 ? `${minutes} minutes` : minutes < 2_880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1_440)} days`;
  };
  const gapBefore = (/** @type {number} */ at) => (at === 0 ? 0 : (index.times[at] ?? 0) - (index.times[at - 1] ?? index.times[at] ?? 0));

  /** @param {Item} item @param {number} at */
  function entry(item, at) {
    const letter = index.kinds[at] ?? 's';
    const isSeam = letter === 'b' || letter === 'c';
    const made = make(
      'article',
      { class: isSeam ? '' : letter, 'data-at': String(at), 'data-key': item.key },
      ...(isSeam ? [seam(item)] : bodyOf(item, letter)),
    );
    const gap = gapBefore(at);
    if (gap >= pause && index.times[at] !== null) made.prepend(make('div', { class: 'gap' }, `${spanOf(gap)} later`));
    return made;
  }

  // --- what is near ---------------------------------------------------------------------------------------------------

  const main = make('main', { 'aria-label': 'Entries' });
  const sections = index.blocks.map(([, height], block) => {
    const made = make('section', { 'data-block': String(block) });
    made.style.minHeight = `${height}px`;
    return made;
  });
  main.append(...sections);
  const filled = new Set();

  function fill(/** @type {number} */ block) {
    const section = sections[block];
    if (!section || filled.has(block)) return;
    filled.add(block);
    section.append(...itemsOf(block).map((item, place) => entry(item, (starts[block] ?? 0) + place)));
    section.style.minHeight = '';
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll('article'))) show(one);
  }

  function empty(/** @type {number} */ block) {
    const section = sections[block];
    // What a person opened or selected there would be gone.
    if (!section || !filled.has(block) || section.querySelector('details[open], article.now') || section.contains(document.activeElement)) return;
    filled.delete(block);
    section.style.minHeight = `${section.offsetHeight}px`;
    section.replaceChildren();
  }

  const near = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        const block = Number(/** @type {HTMLElement} */ (target).dataset.block);
        isIntersecting ? fill(block) : empty(block);
      }
    },
    { rootMargin: '1200px 0px' },
  );

  const articleAt = (/** @type {number} */ at) => /** @type {HTMLElement | null} */ (main.querySelector(`article[data-at="${at}"]`));

  // --- the player -----------------------------------------------------------------------------------------------------

  const state = { /** The selected entry. */ at: 0, /** What comes after it is not shown yet. */ isReplay: false, timer: 0, speed: 1 };

  const show = (/** @type {HTMLElement} */ article) => {
    const at = Number(article.dataset.at);
    article.hidden = state.isReplay && at > state.at;
    article.classList.toggle('now', at === state.at && isMoved);
  };
  let isMoved = false;

  /** @param {number} at @param {ScrollLogicalPosition} block */
  function go(at, block = 'nearest') {
    const before = state.at;
    state.at = Math.max(0, Math.min(total - 1, at));
    isMoved = true;
    const here = blockOf(state.at);
    for (const [number, section] of sections.entries()) section.hidden = state.isReplay && number > here;
    fill(here);
    for (const number of new Set([blockOf(before), here]))
      for (const article of /** @type {NodeListOf<HTMLElement>} */ (sections[number]?.querySelectorAll('article') ?? [])) show(article);
    const article = articleAt(state.at);
    article?.scrollIntoView({ block });
    // What is set around it moves it once more.
    requestAnimationFrame(() => article?.scrollIntoView({ block: block === 'start' ? 'start' : 'nearest' }));
    if (article?.dataset.key && location.hash !== `#${encodeURIComponent(article.dataset.key)}`)
      history.replaceState(null, '', `#${encodeURIComponent(article.dataset.key)}`);
    tell();
  }

  function replay(/** @type {boolean} */ isOn) {
    state.isReplay = isOn;
    if (!isOn) stop();
    go(state.at, 'nearest');
  }

  const longest = 2_500;
  function play() {
    if (state.timer) return stop();
    if (state.at >= total - 1) state.at = 0;
    if (!isMoved) state.at = firstSeen();
    replay(true);
    const next = () => {
      if (state.at >= total - 1) return stop();
      // Idle times are cut short, and what came at once comes one after the other.
      const wait = Math.max(250, Math.min(longest, gapBefore(state.at + 1) || 500));
      state.timer = window.setTimeout(() => {
        go(state.at + 1);
        next();
      }, wait / state.speed);
    };
    next();
    tell();
  }
  function stop() {
    clearTimeout(state.timer);
    state.timer = 0;
    tell();
  }

  /** The first entry that is wholly below the head. */
  function firstSeen() {
    const articles = /** @type {HTMLElement[]} */ ([...main.querySelectorAll('article')]);
    const top = head.getBoundingClientRect().bottom;
    return Number(articles.find((article) => article.getBoundingClientRect().top >= top - 4)?.dataset.at ?? 0);
  }

  function step(/** @type {number} */ by) {
    stop();
    if (!isMoved && !state.isReplay) go(firstSeen());
    else go(state.at + by);
  }
  function turn(/** @type {number} */ by) {
    stop();
    const places = index.prompts.map(([at]) => at);
    const from = isMoved ? state.at : firstSeen();
    go((by > 0 ? places.find((at) => at > from) : places.findLast((at) => at < from)) ?? (by > 0 ? total - 1 : 0), 'start');
  }

  // --- finding --------------------------------------------------------------------------------------------------------

  /** @type {{ words: string, hits: number[], at: number, run: number, isDone: boolean }} */
  const found = { words: '', hits: [], at: -1, run: 0, isDone: true };
  const textOf = (/** @type {Item} */ item) =>
    [
      item.text,
      item.tool,
      item.input === undefined ? '' : leafs(item.input),
      ...(item.said ?? []),
      ...(item.branches ?? []).map(({ head }) => head),
    ].join('\n');
  const leafs = (/** @type {unknown} */ value) =>
    typeof value === 'string' ? value : (JSON.stringify(value)?.replaceAll('\\n', '\n').replaceAll('\\"', '"') ?? '');

  /** Looks through every block, a few at a time, so that the page stays quick. @param {string} words */
  function find(words) {
    const run = ++found.run;
    Object.assign(found, { words, hits: [], at: -1, isDone: words === '' });
    clearMarks();
    tell();
    if (words === '') return;
    const wanted = words.toLowerCase();
    // As it would stand in a block: one without it need not be read.
    const inBlock = JSON.stringify(wanted).slice(1, -1).replaceAll('<', '\\u003c');
    let block = 0;
    const some = () => {
      if (run !== found.run) return;
      for (const until = performance.now() + 12; block < sources.length && performance.now() < until; block++) {
        const source = sources[block] ?? '';
        if (!source.toLowerCase().includes(inBlock)) continue;
        for (const [place, item] of itemsOf(block).entries())
          if (textOf(item).toLowerCase().includes(wanted)) found.hits.push((starts[block] ?? 0) + place);
      }
      found.isDone = block >= sources.length;
      if (found.at < 0 && found.hits.length > 0)
        toHit(
          Math.max(
            0,
            found.hits.findIndex((at) => at >= (isMoved ? state.at : 0)),
          ),
        );
      tell();
      if (!found.isDone) setTimeout(some);
    };
    some();
  }

  function toHit(/** @type {number} */ number) {
    if (found.hits.length === 0) return;
    found.at = (number + found.hits.length) % found.hits.length;
    const at = found.hits[found.at] ?? 0;
    stop();
    if (state.isReplay && at > state.at) state.isReplay = false;
    go(at, 'center');
    clearMarks();
    const article = articleAt(at);
    article?.classList.add('found');
    for (const details of article?.querySelectorAll('details') ?? []) details.open = true;
    // A fold makes what is in it when it has opened.
    setTimeout(() => article && mark(article), 30);
    tell();
  }

  function clearMarks() {
    for (const one of main.querySelectorAll('.found')) one.classList.remove('found');
    if ('highlights' in CSS) CSS.highlights.delete('found');
  }

  function mark(/** @type {HTMLElement} */ article) {
    if (!('highlights' in CSS)) return;
    const wanted = found.words.toLowerCase();
    /** @type {Range[]} */
    const ranges = [];
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && ranges.length < 1_000; node = walker.nextNode()) {
      const text = (node.nodeValue ?? '').toLowerCase();
      for (let at = text.indexOf(wanted); at !== -1 && ranges.length < 1_000; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set('found', new Highlight(...ranges));
    ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: 'nearest' });
  }

  // --- the frame ------------------------------------------------------------------------------------------------------

  const times = index.times.filter((time) => time !== null);
  const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
  const whole = index.stop === 'root' ? 'full history' : 'as the model had it';
  const about = [
    index.template,
    shortId(index.id),
    `${numberOf(total)} entries`,
    ...(times.length > 0 ? [day.formatRange(Math.min(...ends(times)), Math.max(...ends(times)))] : []),
    whole,
  ].join(' · ');
  /** First and last, for times stand in order but for a few. @param {number[]} all */
  function ends(all) {
    return [all[0] ?? 0, all.at(-1) ?? 0];
  }

  const field = make('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search in this page', spellcheck: 'false' });
  const hits = make('output', { class: 'muted', 'aria-live': 'polite' });
  let typing = 0;
  field.addEventListener('input', () => {
    clearTimeout(typing);
    typing = window.setTimeout(() => find(field.value.trim()), 150);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') field.value.trim() === found.words ? toHit(found.at + (event.shiftKey ? -1 : 1)) : find(field.value.trim());
    if (event.key === 'Escape') {
      field.value = '';
      find('');
      field.blur();
    }
    event.stopPropagation();
  });

  /** @param {string} name @param {string} title @param {string} className @param {boolean} isOn */
  function toggle(name, title, className, isOn) {
    const made = make('button', { type: 'button', title, 'aria-pressed': String(isOn) }, name);
    made.addEventListener('click', () => {
      const isHidden = document.body.classList.toggle(className);
      made.setAttribute('aria-pressed', String(!isHidden));
    });
    return made;
  }

  function outline(/** @type {boolean} */ isOpen) {
    document.body.classList.toggle('outlined', isOpen);
    contents.made.setAttribute('aria-pressed', String(isOpen));
  }
  function theme() {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    drawTrack();
  }

  const contents = button(shapes.list, 'Outline', () => outline(!document.body.classList.contains('outlined')));
  const head = make(
    'header',
    {},
    contents.made,
    make('h1', { title: index.title }, index.title),
    make('span', { class: 'about muted', title: `${about} · exported by Stemma` }, about),
    make(
      'span',
      { class: 'search', role: 'search' },
      field,
      hits,
      button(shapes.up, 'Previous hit', () => toHit(found.at - 1)).made,
      button(shapes.down, 'Next hit', () => toHit(found.at + 1)).made,
    ),
    toggle('Thinking', 'Show thinking', 'no-thinking', true),
    toggle('Tools', 'Show calls and results', 'no-tools', true),
    button(shapes.shade, 'Light or dark', theme).made,
  );

  const aside = make('nav', { 'aria-label': 'Outline' }, make('h2', {}, `${numberOf(index.prompts.length)} prompts`));
  const stops = [
    ...index.prompts.map(([at, said]) => ({ at, said, name: '' })),
    ...[...index.kinds].flatMap((kind, at) => (kind === 'c' ? [{ at, said: 'Compaction', name: 'compaction' }] : [])),
  ];
  for (const { at, said, name } of stops.sort((a, b) => a.at - b.at).slice(0, 5_000)) {
    const made = make('a', { href: '#', class: name, 'data-at': String(at), title: said }, said || '(no words)');
    made.addEventListener('click', (event) => {
      event.preventDefault();
      if (state.isReplay && at > state.at) state.isReplay = false;
      go(at, 'start');
    });
    aside.append(made);
  }

  const slider = make('input', { type: 'range', min: '0', max: String(Math.max(0, total - 1)), value: '0', 'aria-label': 'Place in the session' });
  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    stop();
    go(at);
  });
  // Keys that move the scale are its own.
  slider.addEventListener('keydown', (event) => /^(Arrow|Home|End|Page)/.test(event.key) && event.stopPropagation());
  const track = make('canvas', { 'aria-hidden': 'true' });
  const place = make('output', {});
  const speeds = make(
    'select',
    { 'aria-label': 'Speed', title: 'Speed' },
    ...['0.5', '1', '2', '5', '20'].map((speed) => make('option', { value: speed, selected: speed === '1' }, `${speed}×`)),
  );
  speeds.addEventListener('change', () => {
    state.speed = Number(speeds.value);
  });
  const playing = button(shapes.play, 'Play', play);
  playing.made.classList.add('primary');
  const all = make('button', { type: 'button', title: 'End the replay and show everything' }, 'Show all');
  all.addEventListener('click', () => replay(false));
  const help = make('button', { type: 'button', class: 'wide', title: 'Keyboard', 'aria-label': 'Keyboard' }, '?');
  const foot = make(
    'footer',
    {},
    button(shapes.first, 'To the beginning', () => go(0, 'start')).made,
    button(shapes.back, 'One entry back', () => step(-1)).made,
    playing.made,
    button(shapes.on, 'One entry on', () => step(1)).made,
    make('div', { class: 'track' }, track, slider),
    place,
    speeds,
    all,
    help,
  );

  const keys = [
    ['Space', 'play or pause'],
    ['→ ← or j k', 'one entry on or back'],
    ['] [', 'next or previous prompt'],
    ['Home End', 'first or last entry'],
    ['Enter', 'open or close what is folded in the entry'],
    ['/', 'search; Enter and Shift+Enter for the next and the previous hit'],
    ['o', 'outline'],
    ['a or Esc', 'end the replay and show everything'],
  ];
  const sheet = make(
    'dialog',
    { 'aria-label': 'Keyboard' },
    make('dl', {}, ...keys.flatMap(([key = '', what = '']) => [make('dt', {}, make('kbd', {}, key)), make('dd', {}, what)])),
    make('form', { method: 'dialog' }, make('button', { autofocus: true }, 'Close')),
  );
  help.addEventListener('click', () => sheet.showModal());

  /** Where errors, compactions and prompts are, above the scale. */
  function drawTrack() {
    const { clientWidth: width, clientHeight: height } = track;
    const ratio = window.devicePixelRatio || 1;
    track.width = width * ratio;
    track.height = height * ratio;
    const context = track.getContext('2d');
    if (!context) return;
    const draw = (/** @type {string} */ kinds, /** @type {string} */ color, /** @type {number} */ wide) => {
      context.fillStyle = getComputedStyle(Object.assign(swatch, { className: color })).color;
      for (let at = 0; at < total; at++)
        if (kinds.includes(index.kinds[at] ?? ''))
          context.fillRect((at / Math.max(1, total - 1)) * track.width - wide / 2, 0, wide * ratio, track.height);
    };
    draw('u', 'swatch-user', 1);
    draw('e', 'swatch-error', 1);
    draw('cb', 'swatch-seam', 2);
  }
  const swatch = make('i', { hidden: true });

  /** Says where the person is, in the player, the outline and the count of hits. */
  function tell() {
    slider.value = String(state.at);
    slider.setAttribute('aria-valuetext', `Entry ${state.at + 1} of ${total}`);
    const time = index.times[state.at];
    place.replaceChildren(
      `${numberOf(state.at + 1)} of ${numberOf(total)}`,
      ...(time ? [make('span', { class: 'when' }, ` · ${clock.format(time)}`)] : []),
    );
    playing.draw(state.timer ? shapes.pause : shapes.play, state.timer ? 'Pause' : 'Play');
    all.hidden = !state.isReplay;
    const current = stops.findLastIndex(({ at }) => at <= state.at);
    aside.querySelector('a[aria-current]')?.removeAttribute('aria-current');
    const here = aside.querySelectorAll('a')[current];
    here?.setAttribute('aria-current', 'true');
    const count = found.hits.length;
    hits.textContent =
      found.words === ''
        ? ''
        : count === 0
          ? found.isDone
            ? 'none'
            : 'searching…'
          : `${numberOf(found.at + 1)} of ${numberOf(count)}${found.isDone ? '' : '…'}`;
  }

  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target !== slider && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || sheet.open || isTyping) return;
    if (event.key === ' ' && /^(BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ' ': play,
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      j: () => step(1),
      k: () => step(-1),
      ']': () => turn(1),
      '[': () => turn(-1),
      Home: () => go(0, 'start'),
      End: () => go(total - 1),
      '/': () => field.focus(),
      o: () => outline(!document.body.classList.contains('outlined')),
      a: () => replay(false),
      Escape: () => state.isReplay && replay(false),
      '?': () => sheet.showModal(),
    };
    if (event.key === 'Enter' && target === document.body) {
      const fold = articleAt(state.at)?.querySelector('details');
      if (fold) fold.open = !fold.open;
      return;
    }
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  /** To the entry that the address names, wherever it is. */
  function toAddress() {
    let key = '';
    try {
      key = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    if (key === '') return;
    const inBlock = `"key":${JSON.stringify(key).replaceAll('<', '\\u003c')}`;
    const block = sources.findIndex((source) => source.includes(inBlock));
    const place = block < 0 ? -1 : itemsOf(block).findIndex((item) => item.key === key);
    if (place >= 0 && (starts[block] ?? 0) + place !== state.at) go((starts[block] ?? 0) + place, 'start');
    else if (place >= 0 && !isMoved) go(state.at, 'start');
  }
  // Who scrolls by hand has left the selected entry: the player says what is in view.
  let isDue = false;
  const scrolled = () => {
    isDue = false;
    if (state.isReplay || state.timer) return;
    const at = firstSeen();
    if (isMoved) for (const one of main.querySelectorAll('.now')) one.classList.remove('now');
    isMoved = false;
    state.at = at;
    tell();
  };
  for (const way of ['wheel', 'touchmove', 'pointerup'])
    window.addEventListener(
      way,
      (event) => {
        if (isDue || (way === 'pointerup' && event.target !== root)) return;
        isDue = true;
        setTimeout(scrolled, 120);
      },
      { passive: true },
    );
  window.addEventListener('hashchange', toAddress);
  window.addEventListener('resize', drawTrack);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawTrack);

  document.body.append(head, aside, main, foot, sheet, swatch);
  outline(window.innerWidth > 1_180 && index.prompts.length > 1);
  for (const section of sections) near.observe(section);
  drawTrack();
  tell();
  toAddress();
})();
