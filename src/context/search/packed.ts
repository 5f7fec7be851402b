import { crc32 } from 'node:zlib'

type Numbers = Uint8Array | Uint16Array | Uint32Array
const TYPES = { Uint8Array, Uint16Array, Uint32Array } as const
type TypeName = keyof typeof TYPES

/** A JSON value, with typed arrays by name. */
export interface Packed {
  meta: unknown
  parts: Record<string, Numbers>
}

/** Version of the format. Files of another version are rebuilt. */
const MAGIC = 0x325a4d47
const PREFIX_BYTES = 12
const ALIGNMENT = 8

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT

/**
 * Packs a value for other threads and for a file. Layout: format, checksum, length of the header, header, number
 * arrays.
 */
export function pack({ meta, parts }: Packed): Uint8Array {
  let offset = 0
  const lists = Object.entries(parts).map(([name, numbers]) => {
    const at = offset
    offset = aligned(at + numbers.byteLength)
    return { name, type: numbers.constructor.name as TypeName, at, length: numbers.length }
  })
  const header = Buffer.from(JSON.stringify({ meta, lists }))
  const start = aligned(PREFIX_BYTES + header.length)
  const bytes = Buffer.from(new SharedArrayBuffer(start + offset))
  bytes.set(header, PREFIX_BYTES)
  for (const [i, numbers] of Object.values(parts).entries())
    bytes.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), start + (lists[i]?.at ?? 0))
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeUInt32LE(header.length, 8)
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4)
  return bytes
}

/** Unpacks a value as a view of `bytes`, which must be aligned to 8 bytes. Null when damaged or of another format. */
export function unpack(bytes: Uint8Array): Packed | null {
  const buffer = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length < PREFIX_BYTES || buffer.readUInt32LE(0) !== MAGIC) return null
  if (crc32(buffer.subarray(8)) !== buffer.readUInt32LE(4)) return null
  const length = buffer.readUInt32LE(8)
  const { meta, lists } = JSON.parse(buffer.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + length))
  const start = buffer.byteOffset + aligned(PREFIX_BYTES + length)
  const parts = (lists as Array<{ name: string; type: TypeName; at: number; length: number }>).map(
    ({ name, type, at, length }) => [name, new TYPES[type](buffer.buffer, start + at, length)] as const,
  )
  return { meta, parts: Object.fromEntries(parts) }
}
