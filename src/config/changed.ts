import { isDeepStrictEqual } from 'node:util'
import { getProperty } from 'dot-prop'
import { differingKeys } from './config-keys.ts'
import type { Config } from './config-schema.ts'

/** Keys whose value differs in `next`. For a record, its entries. */
export function changedKeys(before: Config, next: Config): string[] {
  return differingKeys(before, next).flatMap(({ key, hasEntries }) => {
    if (!hasEntries) return [key]
    const [old, now]: Record<string, unknown>[] = [getProperty(before, key, {}), getProperty(next, key, {})]
    const names = Object.keys({ ...old, ...now })
    return names.filter((name) => !isDeepStrictEqual(old?.[name], now?.[name])).map((name) => `${key}.${name}`)
  })
}
