import { lazily } from '../lazily.ts'
import type { CatalogueFile } from './catalogue-file.ts'

let shipped: CatalogueFile | null = null

/**
 * Loads the catalogue that is shipped, which `npm run prices` writes. Whoever asks for prices loads it first; a tool
 * server does so with its first call.
 */
export const loadShippedCatalogue = lazily(async () => {
  const { default: file } = await import('./catalogue.json', { with: { type: 'json' } })
  shipped = file as unknown as CatalogueFile
})

/** The shipped catalogue. Null before it is loaded. */
export const shippedCatalogue = (): CatalogueFile | null => shipped
