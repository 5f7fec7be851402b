import { writeFileSync } from 'node:fs'
import { CatalogueFile } from '../src/providers/catalogue-file.ts'
import { fromGenaiPrices } from '../src/providers/genai-prices.ts'

/**
 * `npm run prices` writes the catalogue of prices that is shipped, from the development dependency genai-prices. After
 * an update of that, set the date of its data here.
 */

const FILE = 'src/providers/catalogue.json'
const PACKAGE: string = '@pydantic/genai-prices'
/** Day of the newest price in the package. */
const DATE = '2026-09-22'
const SOURCE = 'https://github.com/pydantic/genai-prices, 0.1.8'

// Its shape is checked below, so its types are not needed.
const { waitForUpdate } = (await import(PACKAGE)) as { waitForUpdate(): Promise<unknown> }
const { date, source, providers } = CatalogueFile.parse(
  fromGenaiPrices(await waitForUpdate(), { date: DATE, source: SOURCE }),
)
/** A line for each model, so that a change of prices can be read. */
const vendors = Object.entries(providers).map(([vendor, models]) => {
  const lines = Object.entries(models).map(([id, prices]) => `${JSON.stringify(id)}:${JSON.stringify(prices)}`)
  return `${JSON.stringify(vendor)}:{\n${lines.join(',\n')}\n}`
})
const head = `"date":${JSON.stringify(date)},\n"source":${JSON.stringify(source)}`
writeFileSync(FILE, `{\n${head},\n"providers":{\n${vendors.join(',\n')}\n}}\n`)
