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
import { os } from './procedure.js';

/** The procedures of `team`. */
export const teamRouter = {
  connect: os.team.connect.handler(({ input, context: { session } }) => connectTeam(session.engine, session.project(), input)),
  open: os.team.open.handler(async ({ input, context: { session } }) => projectInfo(session.use(await openTeam(session.engine, input)))),
  signIn: os.team.signIn.handler(({ input, context: { session }, signal }) => signInTeam(session.engine, input.hub, signal)),
  disconnect: os.team.disconnect.handler(({ context: { session } }) => disconnectTeam(session.engine, session.project())),
  status: os.team.status.handler(({ context: { session } }) => teamStatus(session.engine, session.project())),
  news: os.team.news.handler(({ context: { session } }) => teamNews(session.engine, session.project())),
  push: os.team.push.handler(async ({ input, context: { session } }) => {
    const { redactions, ...pushed } = await pushTeam(session.engine, session.project(), input);
    return { ...pushed, ...(redactions && { redactions: [...redactions] }) };
  }),
  pull: os.team.pull.handler(async ({ context: { session } }) => {
    const { refused, ...pulled } = await pullTeam(session.engine, session.project());
    return { ...pulled, refused: [...refused] };
  }),
  retain: os.team.retain.handler(async ({ input, context: { session } }) => {
    await (await teamHub(session.engine, session.project())).retain(input.days);
    return teamStatus(session.engine, session.project());
  }),
  members: os.team.members.handler(async ({ context: { session } }) => (await teamHub(session.engine, session.project())).members()),
  invite: os.team.invite.handler(async ({ input, context: { session } }) => (await teamHub(session.engine, session.project())).invite(input)),
  share: os.team.share.handler(({ input, context: { session } }) => shareCommit(session.engine, session.project(), input)),
  audit: os.team.audit.handler(async ({ input, context: { session } }) => (await teamHub(session.engine, session.project())).audit(input)),
  revoke: os.team.revoke.handler(async ({ input, context: { session } }) => (await teamHub(session.engine, session.project())).revoke(input.id)),
};
