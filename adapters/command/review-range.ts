import { GazewayError } from '../../src/errors.ts'

/**
 * Reads BASE..HEAD; HEAD is the last commit where it is absent.
 *
 * @param name of the flag or the word, for errors
 * @throws GazewayError `validation_failed`
 */
export function revisionsIn(range: string, name: string): { base: string; head: string } {
  const [, base, head] = /^([^.].*?)\.\.([^.].*)?$/.exec(range) ?? []
  if (base !== undefined) return { base, head: head ?? 'HEAD' }
  throw new GazewayError('validation_failed', `${name}: must be BASE..HEAD, such as HEAD^..HEAD.`, { param: '--range' })
}
