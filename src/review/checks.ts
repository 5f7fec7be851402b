import { randomInt } from 'node:crypto'
import * as z from 'zod'
import { canaryOf } from './canary-line.ts'
import { Hunk, type Part } from './change-parts.ts'

/** Kinds of attention checks. */
export const CHECK_KINDS = ['question', 'retype', 'canary'] as const
export const CheckKind = z.enum(CHECK_KINDS)
export type CheckKind = z.infer<typeof CheckKind>

/**
 * A check of a hurried person's attention, answered with the decision. It raises no level: a program that has the change
 * passes it.
 */
export const Check = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('question').describe('which of the lines the change of the file has'),
    path: z.string(),
    options: z.array(z.string()).min(2),
  }),
  z.object({
    kind: z.literal('retype').describe('the added line, typed again'),
    path: z.string(),
    line: z.int().describe('line of the new file'),
  }),
  z.object({
    kind: z.literal('canary').describe('a hunk to mark: it is shown among the hunks, and is not part of the change'),
    path: z.string(),
    after: z.int().min(0).describe('index of the part that it is shown after'),
    hunk: Hunk,
  }),
])
export type Check = z.infer<typeof Check>

/** A check with its answer, as the store has it. */
export type MadeCheck = Check & { answer: string }

/** Lines that are offered beside the right one. */
const DECOYS = 2
/** A line that can be told from others, and typed. */
const TYPEABLE = /^[\x21-\x7e][\x20-\x7e]{6,118}[\x21-\x7e]$/

interface Line {
  path: string
  text: string
  line: number | null
}

/** Makes checks about changed lines, at random. A kind that the change has too few lines for is omitted. */
export function makeChecks(kinds: readonly CheckKind[], parts: readonly Part[]): MadeCheck[] {
  const lines = parts.flatMap((part) => (part.kind === 'hunk' ? changedLines(part) : []))
  const make = { question: () => questionOf(lines), retype: () => retypeOf(lines), canary: () => canaryCheck(parts) }
  return kinds.flatMap((kind) => make[kind]() ?? [])
}

function changedLines({ path, rows }: Part & { kind: 'hunk' }): Line[] {
  return rows
    .filter(({ kind }) => kind !== ' ')
    .map((row) => ({ path, text: row.text.trim(), line: row.new }))
    .filter(({ text }) => TYPEABLE.test(text))
}

function retypeOf(lines: readonly Line[]): MadeCheck | null {
  const chosen = oneOf(lines.filter(({ line }) => line !== null))
  return chosen && { kind: 'retype', path: chosen.path, line: chosen.line as number, answer: chosen.text }
}

/** Asks which line a file's change has, beside lines of other files. */
function questionOf(lines: readonly Line[]): MadeCheck | null {
  const chosen = oneOf(lines)
  if (chosen === null) return null
  const own = new Set(lines.filter(({ path }) => path === chosen.path).map(({ text }) => text))
  const others = [...new Set(lines.map(({ text }) => text))].filter((text) => !own.has(text))
  if (others.length < DECOYS) return null
  const options = shuffled([chosen.text, ...shuffled(others).slice(0, DECOYS)])
  return { kind: 'question', path: chosen.path, options, answer: chosen.text }
}

function canaryCheck(parts: readonly Part[]): MadeCheck | null {
  const canary = canaryOf(parts)
  return canary && { kind: 'canary', path: canary.hunk.path, ...canary, answer: canary.hunk.digest }
}

const oneOf = (lines: readonly Line[]): Line | null =>
  lines.length === 0 ? null : (lines[randomInt(lines.length)] as Line)

function shuffled(texts: readonly string[]): string[] {
  const left = [...texts]
  return texts.map(() => left.splice(randomInt(left.length), 1)[0] as string)
}

/** Lists the kinds of checks that answers pass. White space does not matter. @param answers in the order of the checks */
export function passedChecks(checks: readonly MadeCheck[], answers: readonly string[]): CheckKind[] {
  return checks.filter(({ answer }, at) => words(answer) === words(answers[at] ?? '')).map(({ kind }) => kind)
}

/** States that a canary was not marked; empty where it was, or where there was none. */
export function missedCanary(checks: readonly MadeCheck[], answers: readonly string[]): string[] {
  const isMissed = checks.some(
    (check, at) => check.kind === 'canary' && passedChecks([check], answers.slice(at)).length === 0,
  )
  return isMissed ? [MISSED] : []
}

const MISSED = 'a canary hunk, which is not part of the change, was shown and not marked'

const words = (text: string): string => text.trim().replace(/\s+/g, ' ')
