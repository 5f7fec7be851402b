import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** First byte of a pack: version of the format. A version is never changed, as migrations write it. */
const VERSION = 1
/** Most bytes of a pack when unpacked. */
const MAX_UNPACKED = 64 * 1024 * 1024
const BYTES_OF_A_DOUBLE = 8

type Row = Readonly<Record<string, unknown>>
type Column =
  | { name: string; kind: 'values'; values: unknown[] }
  /** Whole numbers, each as the difference from the one before. */
  | { name: string; kind: 'steps'; values: number[] }
  /** Doubles after the header: the first byte of each, then the second of each. NaN: absent. */
  | { name: string; kind: 'doubles' }

/**
 * Packs similar rows into few bytes, column by column (as in Abadi, Madden & Ferreira 2006), compressed with DEFLATE.
 *
 * @param about JSON about the rows, kept beside them
 * @param rows flat, or with objects of plain values; JSON values other than null
 */
export function packRows(about: object, rows: readonly Row[]): Buffer {
  const columns: Column[] = []
  const doubles: Buffer[] = []
  for (const [name, values] of columnsOf(rows)) {
    const packed = isFractional(values) ? null : valuesOf(name, values)
    columns.push(packed ?? { name, kind: 'doubles' })
    if (packed === null) doubles.push(planesOf(values as Array<number | undefined>))
  }
  const header = JSON.stringify({ about, count: rows.length, columns })
  const compressed = deflateRawSync(Buffer.concat([Buffer.from(`${header}\n`), ...doubles]))
  return Buffer.concat([Buffer.of(VERSION), compressed])
}

/**
 * Unpacks rows.
 *
 * @param bytes from `packRows`
 * @throws RangeError for another format
 */
export function unpackRows<About, Unpacked>(bytes: Uint8Array): { about: About; rows: Unpacked[] } {
  if (bytes[0] !== VERSION) throw new RangeError(`A pack of rows has the unknown format ${bytes[0]}.`)
  const unpacked = inflateRawSync(bytes.subarray(1), { maxOutputLength: MAX_UNPACKED })
  const end = unpacked.indexOf('\n')
  const header = JSON.parse(unpacked.toString('utf8', 0, end)) as { about: About; count: number; columns: Column[] }
  const rows = Array.from({ length: header.count }, () => ({}) as Record<string, unknown>)
  let from = end + 1
  for (const column of header.columns) {
    fill(rows, column.name, column.kind === 'doubles' ? doublesOf(unpacked, from, rows.length) : plain(column))
    if (column.kind === 'doubles') from += rows.length * BYTES_OF_A_DOUBLE
  }
  return { about: header.about, rows: rows as Unpacked[] }
}

/** Values of each column in the order of rows; undefined where a row has none. `a.b` is the value b of the object a. */
function columnsOf(rows: readonly Row[]): Map<string, unknown[]> {
  const columns = new Map<string, unknown[]>()
  const put = (name: string, at: number, value: unknown) => {
    const values = columns.get(name) ?? new Array<unknown>(rows.length).fill(undefined)
    values[at] = value
    columns.set(name, values)
  }
  for (const [at, row] of rows.entries())
    for (const [name, value] of Object.entries(row)) {
      const parts = isObject(value) ? Object.entries(value) : []
      if (parts.length === 0) put(name, at, value)
      for (const [part, inner] of parts) put(`${name}.${part}`, at, inner)
    }
  return columns
}

function fill(rows: ReadonlyArray<Record<string, unknown>>, name: string, values: readonly unknown[]): void {
  const dot = name.indexOf('.')
  const [outer, inner] = dot === -1 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)]
  for (const [at, row] of rows.entries()) {
    const value = values[at]
    if (value === undefined || value === null) continue
    if (inner === null) row[outer] = value
    else {
      row[outer] ??= {}
      ;(row[outer] as Record<string, unknown>)[inner] = value
    }
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isFractional = (values: readonly unknown[]): boolean =>
  values.every((value) => value === undefined || typeof value === 'number') &&
  values.some((value) => !Number.isInteger(value) && value !== undefined)

function valuesOf(name: string, values: readonly unknown[]): Column {
  const steps = values.every(Number.isSafeInteger)
    ? (values as number[]).map((value, i) => value - ((values[i - 1] as number | undefined) ?? 0))
    : null
  const isShorter = steps !== null && JSON.stringify(steps).length < JSON.stringify(values).length
  return isShorter ? { name, kind: 'steps', values: steps } : { name, kind: 'values', values: [...values] }
}

function plain(column: Exclude<Column, { kind: 'doubles' }>): unknown[] {
  if (column.kind === 'values') return column.values
  let value = 0
  return column.values.map((step) => {
    value += step
    return value
  })
}

/** Doubles byte by byte: their signs and exponents are alike, and compress well beside each other. */
function planesOf(values: ReadonlyArray<number | undefined>): Buffer {
  const bytes = Buffer.alloc(BYTES_OF_A_DOUBLE)
  const planes = Buffer.alloc(values.length * BYTES_OF_A_DOUBLE)
  for (const [at, value] of values.entries()) {
    bytes.writeDoubleLE(value ?? Number.NaN)
    for (let plane = 0; plane < BYTES_OF_A_DOUBLE; plane++) planes[plane * values.length + at] = bytes[plane] as number
  }
  return planes
}

function doublesOf(unpacked: Buffer, from: number, count: number): Array<number | undefined> {
  const bytes = Buffer.alloc(BYTES_OF_A_DOUBLE)
  return Array.from({ length: count }, (_, at) => {
    for (let plane = 0; plane < BYTES_OF_A_DOUBLE; plane++) bytes[plane] = unpacked[from + plane * count + at] as number
    const value = bytes.readDoubleLE()
    return Number.isNaN(value) ? undefined : value
  })
}
