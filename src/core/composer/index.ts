// composer: builds the prompt of a model call from layers. The collector gathers blocks, the composer turns them into messages,
// the state builder writes memory, and the compactor shortens memory. No other folder composes a prompt.
// Pure: values in, values out. It reads no store, clock or file.
export { checkPairing, requestBody } from './body.js';
export { type Call, type ComposedCall, composeCall, type LayerSources } from './call.js';
export { collectContexts, type RuntimeServices, servicesOf } from './collect.js';
export { type CompactionPolicy, planCompaction, shortenMemory, summaryCall } from './compact.js';
export { type Compared, compareMessages, shownRow } from './compare.js';
export { asComposed, composeMessages } from './compose.js';
export { afterNotice, untrusted } from './framework.js';
export { savedBlocks } from './layers.js';
export { type Preview, type PreviewRequest, type PreviewSources, previewRecorded } from './preview.js';
export { chunksOfNote, rankByWords } from './rank.js';
export { isPrompt, type RecordedLayers, type RecordedMessage, recordedLayers, textOf, type WholeMemory } from './recorded.js';
export { groupDeltas, type Remembered, rememberedFacts, sumMemory } from './remembered.js';
export { applyPatch, buildPatch, checkState, type State, type StateCall, stateFields } from './state.js';
