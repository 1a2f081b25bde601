// views/profiles: the kinds of agents of the project: profiles with their versions and rules, and templates with their versions.
// Profiles start agents in handovers; templates name the text that a commit's agent started with.
// It has no state of its own.
import './profiles.css';

export { ProfilesView as View } from './Profiles';
