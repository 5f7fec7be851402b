import { createHash } from 'node:crypto'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'

const line = z.int().min(1).nullable()

/** A line of a hunk. */
export const Row = z.object({
  kind: z.enum([' ', '-', '+']).describe('unchanged, removed or added'),
  text: z
    .string()
    // Another newline would be another line, of which nobody would be asked to read.
    .regex(/^[^\n\u0100-\uffff]*\n?$/)
    .describe('bytes of the line with its newline, each byte as one character'),
  old: line.describe('its number in the old file, from 1; null for an added line'),
  new: line.describe('its number in the new file, from 1; null for a removed line'),
})
export type Row = z.infer<typeof Row>

const path = z
  .string()
  .min(1)
  .describe('the path, with backslashes, control characters and bytes that are no UTF-8 escaped')
const digest = z.string().regex(/^[0-9a-f]{64}$/)

/** A stretch of changed lines with its context. */
export const Hunk = z.object({
  kind: z.literal('hunk'),
  path,
  digest: digest.describe('SHA-256 of the path and the lines, without line numbers'),
  lines: z.int().min(1).describe('added and removed lines'),
  rows: z.array(Row).min(1),
})
export type Hunk = z.infer<typeof Hunk>

/** A part of a change without lines to read, which a reviewer acknowledges. */
export const Item = z.object({
  kind: z.enum(['binary', 'deleted', 'empty', 'large', 'mode', 'moved', 'submodule']),
  path,
  digest: digest.describe('SHA-256 of the kind, the paths and the detail'),
  lines: z.literal(1).describe('an item counts as one line'),
  detail: z.string().describe('modes or ids of what was there, and of what is there now: `100644 → 100755`'),
  from: path.optional().describe('former path of a moved file'),
})
export type Item = z.infer<typeof Item>

/** A part of a change: lines to read, or an item to acknowledge. */
export const Part = z.discriminatedUnion('kind', [Hunk, Item])
export type Part = z.infer<typeof Part>

const Oid = z.string().regex(/^[0-9a-f]{40,64}$/)

/** One side of a change. */
export const Side = z.object({ commit: Oid, tree: Oid })
export type Side = z.infer<typeof Side>

/** The side that is reviewed. It has no commit yet where it is staged, or a patch. */
const Head = Side.extend({ commit: Oid.nullable().describe('null for a change that is not committed') })
export type Head = z.infer<typeof Head>

/** The canonical change from a commit to what comes after it. */
export const Change = z.object({
  base: Side,
  head: Head,
  digest: digest.describe('SHA-256 of the raw difference of both trees'),
  parts: z.array(Part).max(50_000).describe('hunks and items in the order of their paths'),
})
export type Change = z.infer<typeof Change>

/** Content of a line that ends without a newline, at the end of a file. */
const NO_NEWLINE = '\n\\ No newline at end of file\n'

/** Computes the digest of a hunk. Line numbers are not part of it. */
export function hunkDigest(path: string, rows: readonly Row[]): string {
  const hash = createHash('sha256').update(`gazeway-hunk-1\0${path}\0`)
  for (const { kind, text } of rows) hash.update(kind + (text.endsWith('\n') ? text : text + NO_NEWLINE), 'latin1')
  return hash.digest('hex')
}

/** Computes the digest of an item. */
export function itemDigest({ kind, path, from = '', detail }: Omit<Item, 'digest' | 'lines'>): string {
  return createHash('sha256').update(`gazeway-item-1\0${kind}\0${path}\0${from}\0${detail}`).digest('hex')
}

/**
 * Checks that parts are what their digests and counts say. What is shown is then what is signed.
 *
 * @throws GazewayError `validation_failed` naming the first that is not
 */
export function requireTrue(parts: readonly Part[]): void {
  for (const [index, part] of parts.entries()) {
    const expected = part.kind === 'hunk' ? hunkDigest(part.path, part.rows) : itemDigest(part)
    const isTrue = part.kind !== 'hunk' || (part.lines === changedRows(part).length && isNumbered(part.rows))
    if (part.digest === expected && isTrue) continue
    const message = `parts.${index}: the digest or the numbers of lines are not those of its content.`
    throw new GazewayError('validation_failed', message, { param: `parts.${index}` })
  }
}

/** Lists the added and removed lines of a hunk. */
const changedRows = ({ rows }: Hunk): Row[] => rows.filter(({ kind }) => kind !== ' ')

/** Tells whether the lines of both files are numbered one after the other. */
function isNumbered(rows: readonly Row[]): boolean {
  const follow = (numbers: readonly (number | null)[]) =>
    numbers.every((number, index) => index === 0 || number === (numbers[index - 1] as number) + 1)
  const [old, now] = [rows.filter(({ kind }) => kind !== '+'), rows.filter(({ kind }) => kind !== '-')]
  const isSided = rows.every(
    (row) => (row.old === null) === (row.kind === '+') && (row.new === null) === (row.kind === '-'),
  )
  return isSided && follow(old.map((row) => row.old)) && follow(now.map((row) => row.new))
}
