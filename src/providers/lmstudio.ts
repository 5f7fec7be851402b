import type { Preset } from './preset.ts'
import { NO_PRICED_FIELDS } from './priced-fields.ts'

/** A local server. Its owner installs the models; the first one listed answers Gazeway's own names. */
export const lmstudio: Preset = {
  name: 'lmstudio',
  label: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  protocol: 'openai',
  key: null,
  roles: {},
  isFree: true,
  pricedFields: NO_PRICED_FIELDS,
  models: {},
}
