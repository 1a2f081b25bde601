import { Bot, CircleHelp, Cog, CornerUpLeft, Hourglass, User } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { EntityType, TimelineMessage } from '../../../core/contract/index.js';
import { CutText, DamagedMark, Empty, type Icon, LinkButton, MeasuredRows, say, useVirtualRows, When } from '../../parts';
import type { ChatItem, MessageList } from './lines';
import { type MessageNote, waitText } from './space';

const faces: Readonly<Record<EntityType, Icon>> = { human: User, agent: Bot, service: Cog };
const hues: Readonly<Record<EntityType, string>> = { human: 'kind-user', agent: 'kind-assistant', service: 'kind-tool' };

interface ChatProps {
  readonly list: MessageList;
  /** The entity whose messages are shown on the right. */
  readonly selfId: string | undefined;
  /** The first new message. */
  readonly dividerBefore?: string | undefined;
  readonly pointed: string | undefined;
  readonly onPoint: (messageId: string | undefined) => void;
  readonly onOpen?: (messageId: string) => void;
  /** Replies and waits by message, and the function that starts a reply. */
  readonly notes?: ReadonlyMap<string, MessageNote> | undefined;
  readonly nameOf?: (entity: string) => string;
  readonly onReply?: (message: TimelineMessage) => void;
  /** Called when the newest message comes into view. */
  readonly onLatest?: (() => void) | undefined;
  /** Loads the whole text of a message that was cut. */
  readonly onWhole?: (place: number) => Promise<string>;
}

/** Messages as a chat, with long silences and new messages marked. */
export function Chat({ list, selfId, dividerBefore, pointed, onPoint, onOpen, notes, nameOf, onReply, onLatest, onWhole }: ChatProps) {
  const { count } = list;
  const { scroller, virtual } = useVirtualRows(count, 72, { overscan: 8 });
  const unreadFrom = dividerBefore === undefined ? -1 : list.placeOf(dividerBefore);
  const isOpened = useRef(false);
  // The chat opens at the first new message. Later, the newest message scrolls into view.
  useEffect(() => {
    if (count === 0) return;
    if (!isOpened.current && unreadFrom >= 0) virtual.scrollToIndex(unreadFrom, { align: 'start' });
    else virtual.scrollToIndex(count - 1, { align: 'end' });
    isOpened.current = true;
  }, [count, unreadFrom, virtual]);
  const isAtEnd = count > 0 && virtual.range?.endIndex === count - 1;
  useEffect(() => {
    if (isAtEnd) onLatest?.();
  }, [isAtEnd, onLatest]);
  const fromOutside = useRef(true);
  useEffect(() => {
    const place = pointed && fromOutside.current ? list.placeOf(pointed) : -1;
    if (place >= 0) virtual.scrollToIndex(place, { align: 'auto' });
    fromOutside.current = true;
  }, [pointed, list, virtual]);
  const point = (id: string | undefined): void => {
    fromOutside.current = false;
    onPoint(id);
  };
  const items = virtual.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, (items.at(-1)?.index ?? -1) + 1];
  useEffect(() => list.need?.(from, to), [list, from, to]);
  if (count === 0) return <Empty title="No messages yet">Messages of this space appear here. Write the first one below.</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
    <section ref={scroller} className="overflows" aria-label="Messages" tabIndex={0}>
      <MeasuredRows virtual={virtual} as="ol">
        {({ index }) => {
          const shown = list.at(index);
          return (
            <>
              {shown && shown.gap > 0 && <p className="chat-gap row muted">{silence(shown.gap)} later</p>}
              {index === unreadFrom && <p className="chat-unread row">New</p>}
              {shown ? (
                <ChatMessage
                  onOpen={onOpen}
                  onReply={onReply}
                  item={shown}
                  own={shown.message.sender?.id === selfId}
                  pointed={shown.message.id === pointed}
                  onPoint={point}
                  note={notes?.get(shown.message.id)}
                  nameOf={nameOf ?? String}
                  whole={onWhole && (() => onWhole(index))}
                />
              ) : (
                <p className="skeleton stack chat-waiting" />
              )}
            </>
          );
        }}
      </MeasuredRows>
    </section>
  );
}

function ChatMessage(props: {
  item: ChatItem;
  own: boolean;
  pointed: boolean;
  onPoint: (messageId: string | undefined) => void;
  onOpen: ((messageId: string) => void) | undefined;
  note: MessageNote | undefined;
  nameOf: (entity: string) => string;
  onReply: ((message: TimelineMessage) => void) | undefined;
  whole: (() => Promise<string>) | undefined;
}) {
  const { own, pointed, onPoint, onOpen, note, nameOf, onReply, whole } = props;
  const { message, length = 0 } = props.item;
  const type = message.sender?.type;
  const Face = type ? faces[type] : CircleHelp;
  return (
    <article
      className={`chat-message ${type ? hues[type] : 'kind-system'} ${own ? 'own' : ''}`}
      data-pointed={pointed}
      onPointerEnter={() => onPoint(message.id)}
      onPointerLeave={() => onPoint(undefined)}
    >
      <span className="chat-face rigid">
        <Face size={15} aria-hidden />
      </span>
      <div className="chat-words grow">
        <header className="row baseline small">
          <b className="ellipsis">{message.sender?.name ?? 'Unknown'}</b>
          {note?.damaged && <DamagedMark />}
          <span className="muted">{type ?? 'unknown'}</span>
          <When at={message.at} className="muted" />
          {onOpen && <LinkButton label="Show in Context" className="chat-open" onClick={() => onOpen(message.id)} />}
          {onReply && <LinkButton label="Reply" className="chat-open" onClick={() => onReply(message)} />}
        </header>
        {note?.replyTo && (
          <p className="muted small">
            <CornerUpLeft size={11} aria-hidden /> To {note.replyTo.name}: {say.firstLine(note.replyTo.text, 80)}
          </p>
        )}
        {message.origin && <p className="muted small">{originText(message.origin)}</p>}
        <CutText text={message.text ?? ''} length={length} lines={8} whole={whole}>
          {(shown) => <p className="chat-text breaks">{shown}</p>}
        </CutText>
        {note?.wait && (
          <p className="chat-wait row muted small" data-open={note.wait.endedAt === null}>
            <Hourglass size={11} aria-hidden /> {waitText(note.wait, nameOf, say.when)}
          </p>
        )}
        {note?.resumed && <p className="chat-wait row muted small">Resumed {note.resumed}</p>}
      </div>
    </article>
  );
}

function originText(origin: NonNullable<TimelineMessage['origin']>): string {
  switch (origin.type) {
    case 'space_message':
      return `Sent because of a message by ${origin.senderName ?? 'an unknown sender'} in ${origin.spaceName}: ${say.firstLine(origin.message, 80)}`;
    case 'plan':
      return `Sent by plan ${origin.planName}`;
    case 'service':
      return `Sent by service ${origin.service}`;
  }
}

const minute = 60_000;
function silence(ms: number): string {
  if (ms < 90 * minute) return `${Math.round(ms / minute)} minutes`;
  if (ms < 36 * 60 * minute) return `${Math.round(ms / (60 * minute))} hours`;
  return `${Math.round(ms / (24 * 60 * minute))} days`;
}
