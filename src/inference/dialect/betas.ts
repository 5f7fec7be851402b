import type { Written } from '../passages/write-request.ts'
import type { Mend, Refusal } from './mend.ts'

const HEADER = 'anthropic-beta'
const ABOUT_BETAS = /anthropic-beta|\bbeta (?:flag|header|feature|value)/i
/** Beginning of the names of facts, before the betas. */
const PREFIX = 'no_beta:'
/** In the place of a beta: all of them, where a refusal names none. */
const ALL = '*'

type Headers = Written['headers']

/** Betas of Messages that a request asks for. */
const betasIn = (headers: Headers): string[] =>
  (headers?.[HEADER] ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** Finds the mend for a refusal of betas: those that it names are omitted, or all. Null when it is about something else. */
export function refusedBetas({ message }: Refusal, headers: Headers): Mend | null {
  if (!ABOUT_BETAS.test(message)) return null
  const sent = betasIn(headers)
  const named = sent.filter((beta) => message.includes(beta))
  return sent.length === 0 ? null : withoutBetas(named.length === 0 ? [ALL] : named)
}

/** Mends for what is known of a model: the betas that it refuses. */
export const knownBetas = (facts: readonly string[]): Mend[] =>
  facts.filter((name) => name.startsWith(PREFIX)).map((name) => withoutBetas(betasOf(name)))

const isOfBetas = ({ name }: Mend): boolean => name.startsWith(PREFIX)

const betasOf = (name: string): string[] => name.slice(PREFIX.length).split(',')

const withoutBetas = (betas: readonly string[]): Mend => ({
  name: `${PREFIX}${betas}`,
  apis: ['messages'],
  isRefused: () => false,
  fields(_, note) {
    for (const beta of betas) note(beta === ALL ? HEADER : `${HEADER}.${beta}`, 'dropped')
    return {}
  },
})

/** Headers of a request without the betas that mends omit. */
export function mendedHeaders(headers: Headers, mends: readonly Mend[]): Headers {
  if (headers === undefined || !mends.some(isOfBetas)) return headers
  const refused = new Set(mends.filter(isOfBetas).flatMap(({ name }) => betasOf(name)))
  const { [HEADER]: _, ...others } = headers
  const left = refused.has(ALL) ? [] : betasIn(headers).filter((beta) => !refused.has(beta))
  return left.length === 0 ? others : { ...others, [HEADER]: left.join(',') }
}
