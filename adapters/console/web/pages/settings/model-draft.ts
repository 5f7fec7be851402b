import type { ModelConfig } from '../../../../platform/routes/config-model-routes.ts'

/** Provider that stands for a base URL. */
export const CUSTOM = { value: 'custom', label: 'Other (base URL)' }

type Role = keyof ModelConfig['models']

/** Values of the form as shown. */
export interface ModelDraft extends Record<Role, string> {
  provider: string
  baseUrl: string
  apiKey: string
  /** One per line. */
  aliases: string
}

/** Values that were edited and are not yet saved. */
export interface Edited extends Partial<ModelDraft> {
  /** Aliases as they were when their editing began. */
  aliasesBefore?: ModelConfig['aliases']
}

/** Form of the settings in force, with the edited values over them. */
export const draftOf = (shown: ModelConfig, edited: Edited): ModelDraft => ({
  provider: shown.provider,
  baseUrl: shown.provider === CUSTOM.value ? (shown.base_url ?? '') : '',
  apiKey: '',
  ...shown.models,
  aliases: linesOf(shown.aliases),
  ...edited,
})

/** Edited settings by key. Unchanged ones are not sent, because somebody else may have changed them. */
export function changesOf(edited: Edited, shown: ModelConfig): Record<string, string | null> {
  const { provider: chosen, baseUrl, apiKey, aliases, aliasesBefore = shown.aliases } = edited
  const provider = chosen ?? shown.provider
  const inForce = shown.provider === CUSTOM.value ? shown.base_url : shown.provider
  const named = provider === CUSTOM.value ? baseUrl?.trim() : chosen
  // A key belongs to the provider that is shown beside it, even if another one is stored by now.
  const place = named ?? (apiKey && provider === shown.provider ? inForce : undefined)
  const roles = (Object.keys(shown.models) as Role[]).filter((role) => edited[role] !== undefined)
  return {
    ...(place !== undefined && { 'upstream.provider': place }),
    ...(apiKey && { 'upstream.api_key': apiKey.trim() }),
    // An empty role resets to its default.
    ...Object.fromEntries(roles.map((role) => [`upstream.models.${role}`, edited[role]?.trim() || null])),
    ...(aliases !== undefined && aliasChanges(aliases, aliasesBefore)),
  }
}

/** Aliases that were added, changed, or removed (null). @throws Error as `aliasesIn` */
function aliasChanges(text: string, shown: ModelConfig['aliases']): Record<string, string | null> {
  const before = aliasesIn(linesOf(shown))
  const now = aliasesIn(text)
  const names = [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name))
  return Object.fromEntries(names.map((name) => [`upstream.aliases.${name}`, now.get(name) ?? null]))
}

const linesOf = (aliases: Record<string, string>) =>
  Object.entries(aliases)
    .map(([name, id]) => `${name} = ${id}`)
    .join('\n')

/**
 * Parses aliases to ids by alias. An id may contain `=`.
 *
 * @throws Error that quotes a line that is not `alias = model`
 */
function aliasesIn(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return new Map(
    lines.map((line) => {
      const [, name = '', id = ''] = /^([^=]*)=(.*)$/.exec(line)?.map((part) => part.trim()) ?? []
      if (name === '' || id === '') throw new Error(`“${line.trim()}” must be: alias = model.`)
      return [name, id]
    }),
  )
}
