import { ExternalLink, Image as ImageIcon } from 'lucide-react';
import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { show } from '../state';
import { Code } from './Code';
import { languageOf } from './highlight';

/** Longer texts are shown as plain text, because parsing them would block the window. */
const parseLimit = 60_000;

/** A link in a transcript. The window asks before it opens the target. */
const components: Components = {
  a: ({ href, children }) =>
    href ? (
      <button type="button" className="md-link" title={href} onClick={() => show({ kind: 'link', href })}>
        {children}
        <ExternalLink size={11} aria-hidden />
      </button>
    ) : (
      children
    ),
  img: ({ src, alt }) => {
    const href = typeof src === 'string' ? src : '';
    return (
      <button type="button" className="md-image inline-row muted" title={href} onClick={() => show({ kind: 'link', href })}>
        <ImageIcon size={13} aria-hidden />
        Image not loaded{alt ? `: ${alt}` : ''}
      </button>
    );
  },
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = String(children ?? '');
    const language = languageOf(/language-(\S+)/.exec(className ?? '')?.[1]);
    // Code without a language and without a line break is inline code.
    return className || text.endsWith('\n') ? (
      <Code text={text.replace(/\n$/, '')} language={language} />
    ) : (
      <code className="inline">{children}</code>
    );
  },
  input: ({ checked }) => <input type="checkbox" checked={checked ?? false} readOnly aria-label={checked ? 'done' : 'not done'} />,
  table: ({ children }) => (
    <div className="md-table">
      <table>{children}</table>
    </div>
  ),
};

const plugins = [remarkGfm];

/** Markdown of a transcript. HTML stays text, and nothing is loaded without a click. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (text.length > parseLimit) return <pre className="verbatim">{text}</pre>;
  return (
    <div className="md">
      <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={(url) => url}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
