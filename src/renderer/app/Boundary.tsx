import { Component, type ReactNode, useEffect, useRef } from 'react';
import { useConnection } from '../client';
import { Failure } from '../parts';
import { NotLoaded } from './later';

/** Keeps a mistake of ours in one pane: the others go on, and it can be tried again or told to us. */
export class Boundary extends Component<{ readonly what: string; readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error: error ?? new Error('Something was thrown that says nothing.') };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    if (error instanceof NotLoaded) return <UntilLoaded what={this.props.what} error={error} />;
    return (
      <Failure
        what={this.props.what}
        error={error}
        stillWorks="The rest of the window still works."
        onRetry={() => this.setState({ error: undefined })}
      />
    );
  }
}

/** What was never fetched comes with a new load of the window, once that is served again; the address says where one was. */
function UntilLoaded({ what, error }: { what: string; error: NotLoaded }) {
  const isBack = useConnection(({ state }) => state.phase === 'open');
  const wasAway = useRef(false);
  useEffect(() => {
    if (!isBack) wasAway.current = true;
    else if (wasAway.current) location.reload();
  }, [isBack]);
  return (
    <Failure
      what={what}
      error={error}
      stillWorks="It comes by itself once that answers again. What was loaded still works."
      onRetry={isBack ? () => location.reload() : undefined}
    />
  );
}
