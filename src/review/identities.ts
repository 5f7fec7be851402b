import { type AllowedSigner, matchesPatterns } from '../signing/allowed-signers.ts'
import { OBSERVER_NAMESPACE } from '../signing/gateway-keys.ts'

/** Namespace of reviewers' signatures: `ssh-keygen -Y sign -n gazeway-review`. */
export const REVIEW_NAMESPACE = 'gazeway-review'

/** Names in lower case and keys of each person, by each of them. */
export type Identities = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Finds whose names and keys are one person's: lines of allowed signers that share a name or a key. Patterns name nobody, and
 * neither do the keys of observers: the line of a gateway has the names of all whose machine it is.
 */
export function identitiesOf(signers: readonly AllowedSigner[]): Identities {
  const identities = new Map<string, Set<string>>()
  for (const { principals, namespaces, key } of signers) {
    if (isForObservers(namespaces)) continue
    const names = principals.filter((name) => !/[!*?]/.test(name)).map((name) => name.toLowerCase())
    const own = [...names, key.blob.toString('base64')]
    const person = new Set(own.flatMap((one) => [one, ...(identities.get(one) ?? [])]))
    for (const one of person) identities.set(one, person)
  }
  return identities
}

const isForObservers = (namespaces: AllowedSigner['namespaces']): boolean =>
  namespaces !== null &&
  matchesPatterns(namespaces, OBSERVER_NAMESPACE) &&
  !matchesPatterns(namespaces, REVIEW_NAMESPACE)
