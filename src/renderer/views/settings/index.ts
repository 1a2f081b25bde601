// views/settings: appearance, model providers, prices, the storage of a project, its replicas, updates of the app.
// The engine decides what can be removed, and the storage page shows it before anything is removed.
// Each page has a file of its own.
import './storage.css';

export { ProvidersSheet } from './Providers';
export { SettingsView as View } from './Settings';
