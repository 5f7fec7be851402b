import { OWN_MODELS } from '../../src/providers/preset.ts'

/**
 * A configuration for an upstream that has Gazeway's own model names, unless it says which it has. Without them the upstream
 * is asked for its list of models first.
 *
 * @param upstream a base URL, or the name of a provider, which has its own
 */
export function withOwnNames(
  upstream: string | null,
  document: { upstream?: object } & Record<string, unknown>,
): Record<string, unknown> {
  if (!upstream?.startsWith('http')) return document
  const aliases = Object.fromEntries(Object.values(OWN_MODELS).map((id) => [id, id]))
  return { ...document, upstream: { aliases, ...document.upstream } }
}
