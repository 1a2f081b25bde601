import { Component, type ReactNode, useEffect, useRef } from 'react';
import { useConnection } from '../client';
import { Failure } from '../parts';
import { NotLoaded } from './later';

/** Confines an unexpected error to one pane, so that the rest of the window keeps working. */
export class Boundary extends Component<{ readonly what: string; readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error: error ?? new Error('An unknown error occurred.') };
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

/** Shown if the code of a view could not be loaded. The page reloads as soon as Stemma answers again; the address preserves the place. */
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
      stillWorks="It opens by itself as soon as Stemma answers again. Views that are loaded still work."
      onRetry={isBack ? () => location.reload() : undefined}
    />
  );
}
