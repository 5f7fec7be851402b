import type { PresetModel, TokenPrices } from '../../src/providers/preset.ts'
import { PRESETS } from '../../src/providers/providers.ts'
import { code, table } from './table.ts'

/** The providers that are known by name, where each is and how a key comes to it, as Markdown. */
export function providersTable(): string {
  const known = PRESETS.map(({ name, label, baseUrl, key }, index) => [
    index === 0 ? `${code(name)} (the default)` : code(name),
    label,
    code(baseUrl),
    key === null ? 'none' : `${code(key.variable)}, from [its page of keys](${key.page})`,
  ])
  const own = [
    'a base URL',
    'any service that speaks OpenAI’s API',
    'itself',
    '`GAZEWAY_UPSTREAM_API_KEY`, if it asks for one',
  ]
  return table(['name', 'provider', 'address', 'key'], [...known, own])
}

/** Table of the prices of the providers' models, as Markdown. */
export function modelsTable(): string {
  const rows = PRESETS.flatMap(({ name, models }) =>
    Object.entries(models).flatMap(([id, model]) =>
      pricesOf(model).map(([when, rates]) => [
        code(name),
        `${code(id)}${when}`,
        ...shown(rates),
        `[${model.date}](${model.source})`,
      ]),
    ),
  )
  return table(['provider', 'model', 'input', 'cached input', 'cache write', 'for 1 h', 'output', 'source'], rows)
}

const COLUMNS = ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'] as const

/** Prices of a model, with the calls that they apply to. */
function pricesOf({ prices }: PresetModel): [when: string, Partial<TokenPrices>][] {
  if (prices === 'unknown') return [['', {}]]
  const { long_prompt: long, service_tiers = {} } = prices
  return [
    ['', prices],
    ...(long ? [[`, prompt > ${long.above.toLocaleString('en')} tokens`, long] as [string, TokenPrices]] : []),
    ...Object.entries(service_tiers).map(([tier, of]): [string, TokenPrices] => [`, tier ${code(tier)}`, of]),
  ]
}

function shown(known: Partial<TokenPrices>): string[] {
  return COLUMNS.map((column) => (known[column] === undefined ? 'unknown' : `$${known[column]}`))
}
