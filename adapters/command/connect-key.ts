import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { NewKey } from '../../src/identity/keys.ts'
import { present } from '../../src/text/present.ts'
import { checked } from './flag-value.ts'
import { type LimitFlags, limitsIn, modelsIn } from './key-flags.ts'
import { type KeyTools, withKeys } from './with-keys.ts'

/** Limits of the key that `gazeway connect` makes, as commander names their flags. */
export interface ConnectKeyFlags extends Pick<LimitFlags, 'budget' | 'session'> {
  name?: string
  /** Comma-separated globs. */
  models?: string
}

/** A key for an agent. */
export interface AgentKey {
  id: string
  key: string
}

/**
 * Makes a key for an agent.
 *
 * @param label the agent's name for people, which is that of the key by default
 * @param expires end of the key, as a duration
 * @throws GazewayError `validation_failed` with the flag in `param`
 */
export async function makeAgentKey(
  loaded: LoadedConfig,
  log: Log,
  flags: ConnectKeyFlags,
  { label, expires }: { label: string; expires: string },
): Promise<AgentKey> {
  const input = {
    name: checked('--name', NewKey.shape.name, flags.name ?? label),
    scopes: ['inference' as const],
    ...termsOf(flags),
    expires_at: expires,
  }
  return withKeys(loaded, log, async ({ keys }) => {
    // A first key must not keep the store from having one for its admin.
    await keys.ensureFirstKey({ dataDir: loaded.dataDir })
    const { key, record } = await keys.create(input)
    return { id: record.id, key }
  })
}

/**
 * Finds a key that was made before.
 *
 * @returns models that it allows, null for all; undefined when it is no longer in force, or was rotated since
 */
export const modelsOfKey = (
  loaded: LoadedConfig,
  log: Log,
  { id, key }: AgentKey,
): Promise<readonly string[] | null | undefined> =>
  withKeys(loaded, log, async ({ keys }) => {
    const holder = await keys.authenticate(key).catch((error: unknown) => {
      if (error instanceof GazewayError) return null
      throw error
    })
    return holder?.id === id ? holder.models : undefined
  })

/** Has a key that was made for an agent stay in force, and gives one from before what the flags name. */
export async function settleAgentKey(
  loaded: LoadedConfig,
  log: Log,
  { id, isNew }: { id: string; isNew: boolean },
  flags: ConnectKeyFlags,
): Promise<void> {
  const change = isNew
    ? { expires_at: null }
    : { ...(flags.name !== undefined && { name: flags.name }), ...termsOf(flags) }
  if (Object.keys(change).length > 0) await withKeys(loaded, log, ({ keys }) => keys.change(id, change))
}

/** Revokes a key that was made for an agent. @returns its name; null when there is no such key in force */
export const revokeAgentKey = (loaded: LoadedConfig, log: Log, id: string): Promise<string | null> =>
  withKeys(loaded, log, async ({ keys }) => ((await isInForce(keys, id)) ? (await keys.revoke(id)).name : null))

const isInForce = async (keys: KeyTools['keys'], id: string): Promise<boolean> =>
  (await keys.inForce({ id })).length > 0

/** Flags as fields of a key. Absent flags set nothing. */
function termsOf({ budget, session, models }: ConnectKeyFlags) {
  const limits = limitsIn(present({ budget, session }))
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(models !== undefined && { models: modelsIn(models) }),
  }
}
