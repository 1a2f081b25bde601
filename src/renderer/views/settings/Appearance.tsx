import { Keyboard } from 'lucide-react';
import { Button, Switch } from '../../parts';
import { type ContrastChoice, setContrast, setTheme, show, type ThemeChoice, useUi } from '../../state';

const themes: readonly { value: ThemeChoice; name: string }[] = [
  { value: 'system', name: 'As the system' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
];
const contrasts: readonly { value: ContrastChoice; name: string }[] = [
  { value: 'system', name: 'As the system' },
  { value: 'more', name: 'High' },
];

/** Theme, contrast and keys. They belong to this window's browser profile, not to a project. */
export function Appearance() {
  const { theme, contrast } = useUi();
  return (
    <section aria-label="Appearance">
      <h2>Appearance</h2>
      <div className="settings-row">
        <span>Theme</span>
        <Switch label="Theme" value={theme} options={themes} onChange={setTheme} />
      </div>
      <div className="settings-row">
        <span>
          Contrast <span className="muted">High contrast makes lines and secondary text stronger.</span>
        </span>
        <Switch label="Contrast" value={contrast} options={contrasts} onChange={setContrast} />
      </div>
      <div className="settings-row">
        <span>
          Motion <span className="muted">Stemma follows the system: with reduced motion, nothing moves.</span>
        </span>
      </div>
      <div className="settings-row">
        <span>Keyboard shortcuts</span>
        <Button icon={Keyboard} onClick={() => show({ kind: 'keys' })}>
          Show
        </Button>
      </div>
    </section>
  );
}
