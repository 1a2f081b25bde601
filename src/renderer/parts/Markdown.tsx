import { ExternalLink, Image as ImageIcon } from 'lucide-react';
import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { show } from '../state';
import { Code } from './Code';
import { languageOf } from './highlight';

/** Past this the text is shown as it is: a parser would hold up the window for something nobody reads as prose. */
const parseLimit = 60_000;

/** A link of a transcript is a text with a target: following it is asked first, whatever it looks like. */
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
      <button type="button" className="md-image" title={href} onClick={() => show({ kind: 'link', href })}>
        <ImageIcon size={13} aria-hidden />
        Image not loaded{alt ? `: ${alt}` : ''}
      </button>
    );
  },
  pre: ({ children }) => children,
  code: ({ className, children }) => {
    const text = String(children ?? '');
    const language = languageOf(/language-(\S+)/.exec(className ?? '')?.[1]);
    // Inline code has neither a language nor a line end.
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

/** Markdown of a transcript. HTML in it stays text, no address in it is ever asked without a click. */
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
