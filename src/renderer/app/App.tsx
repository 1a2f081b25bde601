import { useEffect } from 'react';
import { useConnection } from '../client';
import { followAddress, listen, noticeChanges, useNavigation, useOpenDir, useProject } from '../state';
import { Center } from './Center';
import { useDesktop } from './desktop';
import { useDrop } from './drop';
import { Frame } from './Frame';
import { useKeys } from './keys';
import { loadViews } from './later';
import { DamagedRecords, Offline, Restricted, Toast } from './Notices';
import { Rail } from './Rail';
import { Sheets } from './Sheets';
import { StatusBar } from './StatusBar';
import { useStartup } from './startup';
import { TopBar } from './TopBar';
import { useAnswers } from './useAnswers';

/** The whole window. */
export function App() {
  const current = useNavigation(({ route }) => route);
  const dropping = useDrop();
  useKeys();
  useStartup();
  useDesktop();
  useAnswers();
  useEffect(loadViews, []);

  useEffect(() => {
    addEventListener('focus', noticeChanges);
    return () => removeEventListener('focus', noticeChanges);
  }, []);

  // New commits of the open project appear without a reload.
  const openDir = useOpenDir();
  const isConnected = useConnection(({ state }) => state.phase === 'open');
  useEffect(() => {
    if (openDir && isConnected) void listen();
  }, [openDir, isConnected]);

  // The engine opens the project that the address names.
  useEffect(() => {
    const { state } = useProject.getState();
    const open = state.phase === 'none' ? undefined : state.dir;
    if (current.project !== open) void followAddress();
  }, [current.project]);

  return (
    <div className="app">
      <Rail />
      <TopBar />
      <div className="body stack shrinks">
        <Offline />
        <Restricted />
        <DamagedRecords />
        <Frame>
          <Center />
        </Frame>
      </div>
      <StatusBar />
      <Sheets />
      <Toast />
      {dropping && (
        <div className="drop-hint" aria-hidden>
          <p>Drop to import</p>
        </div>
      )}
    </div>
  );
}
