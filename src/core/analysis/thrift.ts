// The compact protocol of Apache Thrift, as far as the headers of Parquet need it.

export interface Thrift {
  readonly type: number;
  bytes(): Uint8Array;
}

const types = { i32: 5, i64: 6, binary: 8, list: 9, struct: 12 } as const;

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

const zigzag = (value: number): number[] => varint(BigInt(value) >= 0n ? BigInt(value) * 2n : BigInt(value) * -2n - 1n);

/** A number of 32 bits. */
export const i32 = (value: number): Thrift => ({ type: types.i32, bytes: () => Uint8Array.from(zigzag(value)) });
/** A number of 64 bits. */
export const i64 = (value: number): Thrift => ({ type: types.i64, bytes: () => Uint8Array.from(zigzag(value)) });
/** A text in UTF-8. */
export const text = (value: string): Thrift => ({
  type: types.binary,
  bytes: () => {
    const content = Buffer.from(value);
    return Buffer.concat([Uint8Array.from(varint(BigInt(content.length))), content]);
  },
});

/** Values of one type. */
export function list(values: readonly Thrift[]): Thrift {
  const type = values[0]?.type ?? types.struct;
  const head = values.length < 15 ? [(values.length << 4) | type] : [0xf0 | type, ...varint(BigInt(values.length))];
  return { type: types.list, bytes: () => Buffer.concat([Uint8Array.from(head), ...values.map((value) => value.bytes())]) };
}

/** Fields in the order of their numbers. An undefined field is left out. */
export function struct(...fields: readonly (readonly [number: number, value: Thrift | undefined])[]): Thrift {
  return {
    type: types.struct,
    bytes: () => {
      const parts: Uint8Array[] = [];
      let last = 0;
      for (const [number, value] of fields) {
        if (!value) continue;
        parts.push(Uint8Array.of(((number - last) << 4) | value.type), value.bytes());
        last = number;
      }
      return Buffer.concat([...parts, Uint8Array.of(0)]);
    },
  };
}
