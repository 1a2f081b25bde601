import { Suspense, useEffect, useState } from 'react';
import type { OutputOf } from '../../core/contract/index.js';
import { api } from '../client';
import { Button, Empty, Loading, notifyProblem, say } from '../parts';
import { go, move, type Route, useEvery, useNavigation, useOpenDir, useProject, type ViewName } from '../state';
import { NotOpened, openSample } from '../views/sessions';
import { Boundary } from './Boundary';
import { later } from './later';
import { PageBar } from './PageBar';
import { findPlace, requireView } from './views';

const AgentsPane = later(() => import('./AgentsPane'));

/** The current view, or its replacement while it cannot be shown. */
export function Center() {
  const route = useNavigation((state) => state.route);
  const { needs, View } = requireView(route.view);
  const dir = useOpenDir();
  return (
    <section className="center stack" aria-label="View">
      <PageBar />
      <div className="view-row rest">
        {dir !== undefined && findPlace(route) === 'agents' && (
          <Suspense fallback={null}>
            <AgentsPane key={dir} project={dir} />
          </Suspense>
        )}
        <div className="view rest">
          <Boundary key={route.view} what="This view cannot be shown">
            <Suspense fallback={<Loading what="Loading the view" />}>
              {needs === 'nothing' ? <View project="" /> : <InProject route={route} />}
            </Suspense>
          </Boundary>
        </div>
      </div>
    </section>
  );
}

function InProject({ route }: { route: Route }) {
  const { state } = useProject();
  const { needs, View } = requireView(route.view);
  const showsCommit = needs === 'commit' || (route.view === 'timeline' && !route.space);
  useNewestCommit(state.phase === 'open' && showsCommit && !route.commit ? state.dir : undefined, route.session);
  switch (state.phase) {
    case 'none':
      return route.project ? <Loading what="Opening the project" /> : <NoProject view={route.view} />;
    case 'opening':
      return <Opening dir={state.dir} />;
    case 'failed':
      return <NotOpened {...state} actions={<Button label="Sessions" onClick={() => go({ view: 'sessions', project: undefined })} />} />;
    case 'open':
      return <View key={state.dir} project={state.dir} />;
  }
}

const lookMs = 700;

/** The state of a project that is being opened. A project of an earlier format is copied and converted first, which may take minutes. */
function Opening({ dir }: { dir: string }) {
  const [conversion, setConversion] = useState<OutputOf<'project.conversion'>>(null);
  useEvery(lookMs, true, () => api.project.conversion({ dir }).then(setConversion, () => setConversion(null)));
  const what = conversion ? `Converting ${dir} from format ${conversion.from} to ${conversion.to}. ${describeStep(conversion)}` : `Opening ${dir}`;
  return <Loading what={what} lines={14} onCancel={() => go({ view: 'sessions', project: undefined })} />;
}

const describeStep = ({ isCopied, copied, bytes }: NonNullable<OutputOf<'project.conversion'>>): string =>
  isCopied ? 'A copy of the earlier format is kept until the first check' : `First it is copied: ${say.bytes(copied)} of ${say.bytes(bytes)}`;

/** Selects the newest commit of the project (or of the session) when a view needs one and the address names none. */
function useNewestCommit(dir: string | undefined, session: string | undefined): void {
  useEffect(() => {
    if (dir === undefined) return;
    let stale = false;
    api.context.graph({ offset: 0, limit: 1, ...(session && { filter: { sessionId: session } }) }).then(({ rows }) => {
      const [newest] = rows;
      if (newest && !stale) move({ commit: newest.commit.id });
    }, notifyProblem);
    return () => {
      stale = true;
    };
  }, [dir, session]);
}

const contents: Readonly<Partial<Record<ViewName, string>>> = {
  chain: 'The turns of a session and its branches appear here.',
  context: 'Everything that a model saw at one turn appears here, in order.',
  calls: 'Every call to a model appears here with its tokens, its cache hits and its cost.',
  replay: 'A session plays here step by step, with its files and its context window.',
  usage: 'The tokens, cost, cache and errors of all sessions appear here.',
  findings: 'Things in your sessions that deserve a look appear here.',
  sql: 'You can ask questions about all sessions in SQL here.',
  compare: 'The differences between two turns appear here.',
  run: 'The request of a turn appears here as a form. You can change it and run it again.',
  jobs: 'Work that a model or an agent carries out for you appears here.',
  profiles: 'Profiles and templates, which describe kinds of agents, appear here.',
  timeline: 'Spaces in which people and agents talk appear here.',
  handover: 'Handovers from one agent to another appear here, with what they passed on.',
  boxes: 'Boxes and the cards in them appear here: what one agent gave to another.',
  compose: 'The layers of a prompt appear here in the order in which they are sent.',
  reviews: 'Tickets, reviews and their findings appear here.',
  experiments: 'Turns that you run several times to compare models and prompts appear here.',
};

function NoProject({ view }: { view: ViewName }) {
  const { title, icon: Glyph } = requireView(view);
  return (
    <Empty
      title={`${title}: no project is open`}
      picture={Glyph}
      acts={[
        { name: 'Go to Sessions', look: 'primary', act: () => go({ view: 'sessions' }) },
        { name: 'Open the sample project', act: () => void openSample() },
      ]}
    >
      {contents[view]} Import an agent's history or open a project first.
    </Empty>
  );
}
