import * as z from 'zod'
import { isStoreUrl } from '../../store/engine.ts'
import { section } from './section.ts'

/** Location of the records. */
export const storeSection = section(() => ({
  url: z.string().max(4096).refine(isStoreUrl, 'not a store').nullable().default(null).meta({
    variable: 'GAZEWAY_STORE',
    flag: '--store',
    description:
      'Store URL. Unset: gazeway.db in the data folder. A relative path starts in the data folder; that of --store in the working directory.',
    accepted: 'sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, or null',
    secret: 'url',
    restart: true,
  }),
}))
