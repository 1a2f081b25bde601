// views/settings: appearance, model providers, prices, the storage of a project, its replicas, updates of the app.
// The engine decides what can be removed, and the storage page shows it before anything is removed.
// `Settings.tsx` lists the pages and draws the appearance; the others have a file each.
import './storage.css';

export { ProvidersSheet } from './Providers';
export { SettingsView as View } from './Settings';
