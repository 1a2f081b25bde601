// forms: the fields of each form of the window and the procedure that it calls.
// A form is data (`state/forms.ts`), drawn by `parts/Form.tsx`. Views open forms with `ask`.
// This folder draws nothing.
export { cardFields, cardIn, newCard, valuesOfCard } from './card';
export { budgetForm, materializeForm, resolveForm, retentionForm, sourceForm, summaryForm, tagsForm } from './commit';
export { caseForm } from './experiment';
export { askToDelegate, askToLaunch, expertForm, forkJoinForm, registerForm } from './handover';
export { boxName, cardOptions, modelField, providerField } from './options';
export { policyLimitsForm, readTarget, ruleForm, ruleKinds } from './policy';
export { profileData, profileForm } from './profile';
export { permissionOptions, runForm } from './run';
export { dropPlan, forgetMemory, goalsForm, joinForm, leaveSpace, memoryForm, planForm, serviceForm } from './space';
export { hubForm, shareForm } from './team';
export { instantiateForm, templateForm } from './template';
export { beginTurn, stepForm, stepNames, stepsOf } from './turn';
