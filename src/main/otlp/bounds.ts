import type protobuf from 'protobufjs/light.js';

/** The most of an export: levels of messages, messages, and fields. Each message takes far more memory than its bytes. */
const most = { levels: 64, messages: 500_000, fields: 4_000_000 } as const;

/** The lengths of values by their wire type, which the low bits of a tag say. Groups (3 and 4) are no part of OTLP. */
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const [varint, delimited] = [0, 2] as const;
const longestVarint = 10;

/** Looks through an encoded message. @throws Error if decoding it could cost too much stack or memory, or if its lengths do not fit. */
export function requireBounded(type: protobuf.Type, bytes: Uint8Array): void {
  let at = 0;
  let [messages, fields] = [0, 0];
  const number = (end: number): number => {
    for (let [value, factor, size] = [0, 1, 0]; at < end && size < longestVarint; size++) {
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte < 128) return value;
    }
    throw new Error('a number of it does not end');
  };
  /** The length of the value that follows a tag. */
  const lengthOf = (wire: number, end: number): number => {
    const length = wire === delimited ? number(end) : fixedBytes[wire];
    if (length === undefined) throw new Error(`it has a field of the unknown kind ${wire}`);
    if (at + length > end) throw new Error('a length of it goes beyond its end');
    return length;
  };
  const message = (of: protobuf.Type, end: number, level: number): void => {
    messages += 1;
    if (level > most.levels) throw new Error(`it is nested more than ${most.levels} levels deep`);
    if (messages > most.messages) throw new Error(`it has more than ${most.messages} messages. Send fewer spans at a time`);
    while (at < end) {
      fields += 1;
      if (fields > most.fields) throw new Error(`it has more than ${most.fields} fields. Send fewer spans at a time`);
      const tag = number(end);
      const wire = tag % 8;
      if (wire === varint) number(end);
      else {
        const length = lengthOf(wire, end);
        const last = at + length;
        const below = wire === delimited ? of.fieldsById[Math.floor(tag / 8)]?.resolvedType : undefined;
        if (below) message(below as protobuf.Type, last, level + 1);
        at = last;
      }
    }
  };
  message(type, bytes.length, 0);
}
