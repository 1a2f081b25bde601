import { Component, type ReactNode } from 'react';
import { Failure } from '../parts';

/** Keeps a mistake of ours in one pane: the others go on, and it can be tried again or told to us. */
export class Boundary extends Component<{ readonly what: string; readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error: error ?? new Error('Something was thrown that says nothing.') };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
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
