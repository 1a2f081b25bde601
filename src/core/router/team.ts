import {
  connectTeam,
  disconnectTeam,
  openTeam,
  projectInfo,
  pullTeam,
  pushTeam,
  shareCommit,
  signInTeam,
  teamHub,
  teamNews,
  teamStatus,
} from '../project/index.js';
import { acts, live, machine, writes } from './procedure.js';

export const teamRouter = {
  connect: writes.team.connect.handler(({ input, context: { session } }) => connectTeam(session.engine, session.project(), input)),
  open: machine.team.open.handler(async ({ input, context: { session } }) =>
    projectInfo(session.use(await openTeam(session.engine, input)).reading()),
  ),
  signIn: machine.team.signIn.handler(({ input, context: { session }, signal }) => signInTeam(session.engine, input.hub, signal)),
  disconnect: writes.team.disconnect.handler(({ context: { session } }) => disconnectTeam(session.engine, session.project())),
  status: live.team.status.handler(({ context: { session } }) => teamStatus(session.engine, session.project())),
  news: live.team.news.handler(({ context: { session } }) => teamNews(session.engine, session.project())),
  push: writes.team.push.handler(async ({ input, context: { session } }) => {
    const { redactions, refused, ...pushed } = await pushTeam(session.engine, session.project(), input);
    return { ...pushed, refused: [...refused], ...(redactions && { redactions: [...redactions] }) };
  }),
  pull: writes.team.pull.handler(async ({ context: { session } }) => {
    const { refused, ...pulled } = await pullTeam(session.engine, session.project());
    return { ...pulled, refused: [...refused] };
  }),
  retain: acts.team.retain.handler(async ({ input, context: { session } }) => {
    await (await teamHub(session.engine, session.project())).retain(input.days);
    return teamStatus(session.engine, session.project());
  }),
  members: acts.team.members.handler(async ({ context: { session } }) => (await teamHub(session.engine, session.project())).members()),
  invite: acts.team.invite.handler(async ({ input, context: { session } }) => (await teamHub(session.engine, session.project())).invite(input)),
  share: writes.team.share.handler(({ input, context: { session } }) => shareCommit(session.engine, session.project(), input)),
  audit: acts.team.audit.handler(async ({ input, context: { session } }) => (await teamHub(session.engine, session.project())).audit(input)),
  revoke: acts.team.revoke.handler(async ({ input, context: { session } }) =>
    (await teamHub(session.engine, session.project())).revoke(input.id, input.keep),
  ),
};
