import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './server.ts'

/** Gives models without a price the flat one, so that keys with budgets may use invented models. Before the start. */
export function withFlatPrices(place: Place): Place {
  mkdirSync(place.data, { recursive: true, mode: 0o700 })
  const file = join(place.data, 'config.json')
  const document = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const priced = {
    ...document,
    pricing: { unknown: 'flat', ...document.pricing },
    upstream: { unknown_price: 'flat', ...document.upstream },
  }
  writeFileSync(file, JSON.stringify(priced), { mode: 0o600 })
  return place
}
