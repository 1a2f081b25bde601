import { CloudUpload, Coins, Download, FolderOpen, HardDrive, Keyboard, KeyRound, Palette, TextQuote, Users } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, Empty, type Icon, Setting, Switch } from '../../parts';
import { go, placeLink, refreshProject, type SettingsPage, setLook, settingsPages, show, useNavigation, useOpenDir, useUi } from '../../state';
import { Prices } from './Prices';
import { Providers } from './Providers';
import { Replicas } from './Replicas';
import { Storage } from './Storage';
import { Summaries } from './Summaries';
import { Team } from './Team';
import { Updates } from './Updates';

/** The settings of this window and of the open project. */
export function SettingsView() {
  const page = useNavigation(({ route }) => route.settings) ?? 'appearance';
  const [, , draw] = pages[page];
  return (
    <section className="settings whole" aria-label="Settings">
      <nav className="settings-pages on-pane stack" aria-label="Pages of the settings">
        {settingsPages.map((id) => {
          const [title, Glyph] = pages[id];
          return (
            <a key={id} className="nav-link row" aria-current={id === page ? 'page' : undefined} {...placeLink({ view: 'settings', settings: id })}>
              <Glyph size={16} aria-hidden />
              {title}
            </a>
          );
        })}
      </nav>
      <div className="settings-page">{draw()}</div>
    </section>
  );
}

const pages: Readonly<Record<SettingsPage, readonly [title: string, icon: Icon, draw: () => ReactNode]>> = {
  appearance: ['Appearance', Palette, () => <Appearance />],
  providers: [
    'Providers',
    KeyRound,
    () => (
      <section aria-label="Providers">
        <h2>Providers</h2>
        <Providers />
      </section>
    ),
  ],
  summaries: ['Summaries', TextQuote, () => <OfProject>{(dir) => <Summaries key={dir} project={dir} />}</OfProject>],
  prices: ['Prices', Coins, () => <Prices />],
  storage: ['Storage', HardDrive, () => <OfProject>{(dir) => <Storage key={dir} project={dir} />}</OfProject>],
  replicas: ['Replicas', CloudUpload, () => <OfProject>{(dir) => <Replicas key={dir} onChanged={() => void refreshProject()} />}</OfProject>],
  team: ['Team', Users, () => <OfProject>{(dir) => <Team key={dir} onPulled={() => void refreshProject()} />}</OfProject>],
  updates: ['Updates', Download, () => <Updates />],
};

function OfProject({ children }: { children: (dir: string) => ReactNode }) {
  const dir = useOpenDir();
  if (dir) return children(dir);
  return (
    <Empty title="No project is open" picture={FolderOpen} acts={[{ name: 'Go to Sessions', look: 'primary', act: () => go({ view: 'sessions' }) }]}>
      The settings of the open project appear here. Import a history in Sessions, or open a project from the menu at the top left.
    </Empty>
  );
}

/** Theme, contrast and keys. They belong to this window's browser profile, not to a project. */
function Appearance() {
  const { theme, contrast } = useUi();
  return (
    <section aria-label="Appearance">
      <h2>Appearance</h2>
      <Setting name="Theme">
        <Switch
          label="Theme"
          value={theme}
          options={{ system: 'As the system', light: 'Light', dark: 'Dark' }}
          onChange={(choice) => setLook({ theme: choice })}
        />
      </Setting>
      <Setting name="Contrast" hint="High contrast makes lines and secondary text stronger.">
        <Switch
          label="Contrast"
          value={contrast}
          options={{ system: 'As the system', more: 'High' }}
          onChange={(choice) => setLook({ contrast: choice })}
        />
      </Setting>
      <Setting name="Motion" hint="Stemma follows the system: with reduced motion, nothing moves." />
      <Setting name="Keyboard shortcuts">
        <Button icon={Keyboard} label="Show" onClick={() => show({ kind: 'keys' })} />
      </Setting>
    </section>
  );
}
