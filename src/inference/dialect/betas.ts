import type { Written } from '../passages/write-request.ts'
import type { Mend, Refusal } from './mend.ts'

const HEADER = 'anthropic-beta'
const ABOUT_BETAS = /anthropic-beta|\bbeta (?:flag|header|feature|value)/i
/** Beginning of the names of facts, before the beta. */
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

/** Finds the mend for a refusal of betas: those that it names are left out, or all. Null when it is about something else. */
export function refusedBetas({ message }: Refusal, headers: Headers): Mend | null {
  if (!ABOUT_BETAS.test(message)) return null
  const sent = betasIn(headers)
  const named = sent.find((beta) => message.includes(beta))
  return sent.length === 0 ? null : withoutBeta(named ?? ALL)
}

/** Mends for what is known of a model: the betas that it refuses. */
export const knownBetas = (facts: readonly string[]): Mend[] =>
  facts.filter((name) => name.startsWith(PREFIX)).map((name) => withoutBeta(name.slice(PREFIX.length)))

const withoutBeta = (beta: string): Mend => ({
  name: `${PREFIX}${beta}`,
  apis: ['messages'],
  isRefused: () => false,
  fields(_, note) {
    note(beta === ALL ? HEADER : `${HEADER}.${beta}`, 'dropped')
    return {}
  },
})

/** Headers of a request without the betas that mends leave out. */
export function mendedHeaders(headers: Headers, mends: readonly Mend[]): Headers {
  const refused = new Set(mends.flatMap(({ name }) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])))
  if (refused.size === 0 || headers === undefined) return headers
  const { [HEADER]: _, ...others } = headers
  const left = refused.has(ALL) ? [] : betasIn(headers).filter((beta) => !refused.has(beta))
  return left.length === 0 ? others : { ...others, [HEADER]: left.join(',') }
}
