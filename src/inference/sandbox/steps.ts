import { sentencesOf } from './extract.ts'

/** Most steps that are read; a longer text is cut. */
const MAX_STEPS = 200

/** Words that a piece of work begins with. Where one follows a comma or an "and", a piece of its own begins. */
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
/** An item of a list, and whether its marker is a number. */
const ITEM = /^(?:[-*•]|(?<number>\(?\d{1,2}[.)]|step \d{1,2} ?[:.)-]))\s+/i
/** "1. … 2. …" in one line. */
const INLINE_NUMBER = /(?:^|\s)\(?(\d{1,2})[.)]\s+(?=\S)/g
/** What comes between a step and the next one of the same sentence. */
const THEN = /[,.]? (?:and )?(?:then|after that|afterwards|finally|lastly)\b,? |; (?:and )?/i
/** What comes between pieces of work that need not wait for each other. */
const AND = new RegExp(`,? and (?=(?:${VERBS})\\b)|, (?=(?:${VERBS})\\b)`, 'i')
/** What a step may begin with to say when it comes. */
const WHEN =
  /^(?:and|first(?:ly)?|second(?:ly)?|third(?:ly)?|next|then|after that|afterwards|finally|lastly|please|you should|we should|we need to|i want to|i need to)\b,? /i
const AT_ONCE = /^(?:meanwhile|in parallel|at the same time)\b,? /i

/** One step of a text that says what to do. */
export interface Step {
  text: string
  /** The steps, by their places in the list, that it comes after. */
  after: number[]
}

/**
 * What a text asks to be done, step by step. Numbered items, sentences and what is joined by "then" or a semicolon come
 * after one another; items with bullets, and pieces of work that are joined by "and" or a comma, go side by side. Each
 * step comes after all that go side by side before it.
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

/** The same work in at most `max` steps: the last one takes what is left over. */
export function withinSteps(steps: readonly Step[], max: number): Step[] {
  if (steps.length <= max) return [...steps]
  const kept = steps.slice(0, max - 1)
  const rest = steps.slice(max - 1)
  const after = [...new Set(rest.flatMap((step) => step.after))].filter((place) => place < kept.length)
  return [...kept, { text: rest.map((step) => step.text).join('; '), after }]
}

/** The steps that go side by side, one list after the other. */
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
      // "Do the following:" is no step of its own.
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

/** The lines of a text, with each of the numbered items that one line holds on a line of its own. */
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

/** Work that goes side by side, each piece by itself. */
function apart(clause: string): string[] {
  if (!VERB_FIRST.test(clause)) return [clause]
  const pieces = clause.split(AND)
  // "Build and test it" speaks of one thing.
  return pieces.every((piece) => piece.includes(' ')) ? pieces : [clause]
}

function tidy(step: string): string {
  const plain = step
    .replace(WHEN, '')
    .replace(/(?<![\s.;,!。])[\s.;,!。]+$/u, '')
    .trim()
  return /[\p{L}\p{N}]/u.test(plain) ? plain.charAt(0).toUpperCase() + plain.slice(1) : ''
}
