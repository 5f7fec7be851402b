import { isDeepStrictEqual } from 'node:util'
import { getProperty } from 'dot-prop'
import { CONFIG_KEYS } from './config-keys.ts'
import type { Config } from './config-schema.ts'

/** The keys that have another value in `next`; of a record, its entries. */
export function changedKeys(before: Config, next: Config): string[] {
  return CONFIG_KEYS.flatMap(({ key, path, hasEntries }) => {
    const [old, now]: unknown[] = [getProperty(before, path), getProperty(next, path)]
    if (isDeepStrictEqual(old, now)) return []
    return hasEntries ? changedEntries(key, Object(old), Object(now)) : [key]
  })
}

function changedEntries(key: string, old: Record<string, unknown>, now: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)])
  return [...names].filter((name) => !isDeepStrictEqual(old[name], now[name])).map((name) => `${key}.${name}`)
}
