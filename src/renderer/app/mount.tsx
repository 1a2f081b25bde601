import { CSPProvider } from '@base-ui/react/csp-provider';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { type Carrier, connect, onNewLine } from '../client';
import { applyTheme, followAddress } from '../state';
import { App } from './App';
import { Boundary } from './Boundary';
import { keepCompositions } from './composition';

/** Starts the window over a carrier. The content security policy forbids style elements, so no part may create them. */
export function mount(carrier: Carrier): void {
  keepCompositions();
  applyTheme();
  onNewLine(followAddress);
  void connect(carrier);
  const root = document.getElementById('root');
  if (!root) throw new Error('The page has no root element.');
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <Boundary what="The window cannot be shown">
          <App />
        </Boundary>
      </CSPProvider>
    </StrictMode>,
  );
}
