import { sentencesOf } from './extract.ts'

/** Maximum number of steps read from a text; the rest is ignored. */
const MAX_STEPS = 200

/** Verbs that begin a piece of work. After a comma or "and" they begin another one. */
const VERBS =
  `add analyse analyze answer apply ask assemble automate build buy calculate check choose clean collect combine compare
  compile compute configure convert copy count create debug define deploy describe design detect document download draft
  draw edit estimate evaluate explain export extract fetch find fix format gather generate get group identify implement
  import improve inspect install interview investigate label list load make map measure merge migrate model monitor move
  notify optimise optimize order organise organize outline package parse pick plan plot post prepare print prioritise
  prioritize produce profile propose prove publish rank read record redesign reduce refactor release remove rename render
  replace report reproduce research review rewrite run schedule search select send set share ship sign sketch sort split
  start store study submit suggest summarise summarize survey switch test trace track train translate try tune update
  upload validate verify visit write`
    .split(/\s+/)
    .join('|')

const VERB_FIRST = new RegExp(`^(?:${VERBS})\\b`, 'i')
/** A list item. The group `number` is set for a numbered one. */
const ITEM = /^(?:[-*•]|(?<number>\(?\d{1,2}[.)]|step \d{1,2} ?[:.)-]))\s+/i
/** Numbered items within one line: "1. … 2. …". */
const INLINE_NUMBER = /(?:^|\s)\(?(\d{1,2})[.)]\s+(?=\S)/g
/** Separators between sequential steps within a sentence. */
const THEN = /[,.]? (?:and )?(?:then|after that|afterwards|finally|lastly)\b,? |; (?:and )?/i
/** Separators between parallel steps. */
const AND = new RegExp(`,? and (?=(?:${VERBS})\\b)|, (?=(?:${VERBS})\\b)`, 'i')
/** Openings that only place a step in the order. */
const WHEN =
  /^(?:and|first(?:ly)?|second(?:ly)?|third(?:ly)?|next|then|after that|afterwards|finally|lastly|please|you should|we should|we need to|i want to|i need to)\b,? /i
const AT_ONCE = /^(?:meanwhile|in parallel|at the same time)\b,? /i

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
  const lines = onLines(text)
  const listed = lines.some((line) => ITEM.test(line))
  for (const line of lines) {
    const item = ITEM.exec(line)
    const isBullet = item !== null && item.groups?.number === undefined
    if (!isBullet) bullets = undefined
    if (item === null) {
      // "Do the following:" is not a step.
      if (listed && line.endsWith(':')) continue
      for (const sentence of sentencesOf(line)) addSentence(stages, sentence)
      continue
    }
    const step = tidy(line.slice(item[0].length))
    if (step === '') continue
    if (bullets) bullets.push(step)
    else stages.push([step])
    if (isBullet) bullets ??= stages.at(-1)
  }
  return stages
}

/** Splits a text into lines, with each numbered item on its own line. */
function onLines(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const plain = line.replace(/\s+/g, ' ').trim()
    let next = 1
    const broken = plain.replace(INLINE_NUMBER, (marker, number) => {
      if (Number(number) !== next) return marker
      next += 1
      return `\n${number}. `
    })
    const found = next > 2 ? broken.split('\n') : [plain]
    return found.map((part) => part.trim()).filter((part) => part !== '')
  })
}

function addSentence(stages: string[][], sentence: string): void {
  const previous = stages.at(-1)
  const isBeside = AT_ONCE.test(sentence)
  for (const [at, clause] of sentence.replace(AT_ONCE, '').split(THEN).entries()) {
    const work = apart(clause.replace(WHEN, '')).map(tidy)
    const steps = work.filter((step) => step !== '')
    if (steps.length === 0) continue
    if (at === 0 && isBeside && previous) previous.push(...steps)
    else stages.push(steps)
  }
}

/** Splits a clause into parallel pieces of work. */
function apart(clause: string): string[] {
  if (!VERB_FIRST.test(clause)) return [clause]
  const pieces = clause.split(AND)
  // "Build and test it" has a single object.
  return pieces.every((piece) => piece.includes(' ')) ? pieces : [clause]
}

function tidy(step: string): string {
  const plain = step
    .replace(WHEN, '')
    .replace(/(?<![\s.;,!。])[\s.;,!。]+$/u, '')
    .trim()
  return /[\p{L}\p{N}]/u.test(plain) ? plain.charAt(0).toUpperCase() + plain.slice(1) : ''
}
