// parts: what views share. Controls, states, the drawing of entries, code, Markdown and token bars, and how numbers are said.
// Everything that comes out of a transcript is hostile: it is set as text, never as markup, and no address in it is followed.
// Parts know nothing of the place they stand in; views hand them values.
import './controls.css';
import './entry.css';
import './bars.css';

export { agentIds, agentOf, agents } from './agents';
export { type Block, blockOfEntry, blocksOf, guessHeight } from './blocks';
export { Code } from './Code';
export { textOfContent } from './cards';
export { Button, Copyable, Facts, type Icon, IconButton, Id, Sheet, Switch } from './controls';
export { EntryView, ToolView } from './Entry';
export { Fold, Sought } from './Fold';
export { languageOfPath } from './highlight';
export * from './kinds';
export { placeByKey, rowsOnPage } from './lists';
export { Markdown } from './Markdown';
export { CardButton, MenuButton, type MenuEntry, WithContextMenu } from './Menu';
export * as say from './numbers';
export { Proof } from './Proof';
export { notifyProblem, problemOf } from './problem';
export { RemoveButton } from './Remove';
export { Answer, Empty, Failure, Loading, ProblemLine, SomeUnread } from './states';
export { statusNames } from './statuses';
export { TokenBar, TokenLegend } from './TokenBar';
export { textOf } from './tools';
export { useWidth } from './width';
