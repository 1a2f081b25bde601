import * as projects from '../project/index.js';
import { acts, live, machine, writes } from './procedure.js';
import { workIn } from './project.js';

const hubOf = ({ session }: { readonly session: projects.Session }) => projects.teamHub(session.engine, session.project());

export const teamRouter = {
  connect: writes.team.connect.handler(({ input, context: { session } }) => projects.connectTeam(session.engine, session.project(), input)),
  open: machine.team.open.handler(async ({ input, context: { session } }) => workIn(session, await projects.openTeam(session.engine, input))),
  signIn: machine.team.signIn.handler(({ input, context: { session }, signal }) => projects.signInTeam(session.engine, input.hub, signal)),
  disconnect: writes.team.disconnect.handler(({ context: { session } }) => projects.disconnectTeam(session.engine, session.project())),
  status: live.team.status.handler(({ context: { session } }) => projects.teamStatus(session.engine, session.project())),
  news: live.team.news.handler(({ context: { session } }) => projects.teamNews(session.engine, session.project())),
  push: writes.team.push.handler(async ({ input, context: { session } }) => {
    const { redactions, refused, ...pushed } = await projects.pushTeam(session.engine, session.project(), input);
    return { ...pushed, refused: [...refused], ...(redactions && { redactions: [...redactions] }) };
  }),
  pull: writes.team.pull.handler(async ({ context: { session } }) => {
    const { refused, ...pulled } = await projects.pullTeam(session.engine, session.project());
    return { ...pulled, refused: [...refused] };
  }),
  retain: acts.team.retain.handler(async ({ input, context }) => {
    await (await hubOf(context)).retain(input.days);
    return projects.teamStatus(context.session.engine, context.session.project());
  }),
  members: acts.team.members.handler(async ({ context }) => (await hubOf(context)).members()),
  invite: acts.team.invite.handler(async ({ input, context }) => (await hubOf(context)).invite(input)),
  share: writes.team.share.handler(({ input, context: { session } }) => projects.shareCommit(session.engine, session.project(), input)),
  audit: acts.team.audit.handler(async ({ input, context }) => (await hubOf(context)).audit(input)),
  revoke: acts.team.revoke.handler(async ({ input, context }) => (await hubOf(context)).revoke(input.id, input.keep)),
};
