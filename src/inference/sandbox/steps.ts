import { sentencesOf } from './extract.ts'

/** Maximum number of steps read from a text; the rest is ignored. */
const MAX_STEPS = 200

/** A list item. The group `number` is set for a numbered one. */
const ITEM = /^(?:[-*•]|(?<number>\(?\d{1,2}[.)]|step \d{1,2} ?[:.)-]))\s+/i
/** White space before a further numbered item within one line: "1. … 2. …". */
const NEXT_NUMBER = /(?<!\s)\s+(?=\(?\d{1,2}[.)]\s)/
/** Separators between sequential steps within a sentence. */
const THEN = /[,.]? (?:and )?(?:then|after that|afterwards|finally|lastly)\b,? |; (?:and )?/i
/** Separators between parallel steps, each a verb with an object of its own: "test it", "write a test". */
const AND =
  /(?:, and|,| and) (?=\p{L}+ (?:an?|the|this|its?|them|their|our|your|each|all|every|two|three|four|five|\d+)\b)/iu
/** Openings that only place a step in the order. */
const WHEN = /^(?:and|first|second|third|next|then|after that|afterwards|finally|lastly|please)\b,? /i

/** One step of a text that describes work. */
export interface Step {
  text: string
  /** Indexes of the steps that it depends on. */
  after: number[]
}

/**
 * Reads a text as steps. Numbered items, sentences and parts joined by "then" or a semicolon are sequential. Bulleted
 * items and parts joined by "and" or a comma are parallel. Each step depends on all parallel steps before it.
 *
 * @example stepsOf('Build it, then deploy it.').map(({ after }) => after) // [[], [0]]
 */
export function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  let before: number[] = []
  for (const stage of stagesOf(text)) {
    const room = stage.slice(0, MAX_STEPS - steps.length)
    const places = room.map((_, at) => steps.length + at)
    steps.push(...room.map((step) => ({ text: step, after: before })))
    before = places
  }
  return steps
}

/** Merges steps into at most `max`: the last one takes the rest. */
export function withinSteps(steps: readonly Step[], max: number): Step[] {
  if (steps.length <= max) return [...steps]
  const kept = steps.slice(0, max - 1)
  const rest = steps.slice(max - 1)
  const after = [...new Set(rest.flatMap((step) => step.after))].filter((place) => place < kept.length)
  return [...kept, { text: rest.map((step) => step.text).join('; '), after }]
}

/** Stages of parallel steps, in order. */
function stagesOf(text: string): string[][] {
  const stages: string[][] = []
  let bullets: string[] | undefined
  for (const line of linesOf(text)) {
    const item = ITEM.exec(line)
    if (item === null || item.groups?.number !== undefined) bullets = undefined
    // "Do the following:" is not a step.
    if (item === null && line.endsWith(':')) continue
    const found = item === null ? sentencesOf(line).flatMap(sequenceOf) : [[line.slice(item[0].length)]]
    for (const stage of found.map((parts) => parts.map(tidy).filter((step) => step !== ''))) {
      if (stage.length === 0) continue
      if (bullets) bullets.push(...stage)
      else stages.push(stage)
      if (item !== null && item.groups?.number === undefined) bullets ??= stages.at(-1)
    }
  }
  return stages
}

/** Lines of a text, with each numbered item on its own line. */
function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const plain = line.replace(/\s+/g, ' ').trim()
    return ITEM.exec(plain)?.groups?.number === undefined ? plain : plain.split(NEXT_NUMBER)
  })
}

/** Stages of a sentence: sequential clauses, each of parallel pieces of work. */
function sequenceOf(sentence: string): string[][] {
  return sentence.split(THEN).map((clause) => {
    const pieces = clause.split(AND)
    // "Build and test it" has a single object.
    return pieces.every((piece) => piece.includes(' ')) ? pieces : [clause]
  })
}

function tidy(step: string): string {
  const plain = step
    .replace(WHEN, '')
    .replace(/(?<![\s.;,!。])[\s.;,!。]+$/u, '')
    .trim()
  return /[\p{L}\p{N}]/u.test(plain) ? plain.charAt(0).toUpperCase() + plain.slice(1) : ''
}
