import { OWN_MODELS, type Preset } from './preset.ts'
import { NO_PRICED_FIELDS } from './priced-fields.ts'

/** Answers inside this process, under Gazeway's own model names. */
export const sandbox: Preset = {
  name: 'sandbox',
  label: 'Sandbox (in this process)',
  baseUrl: 'http://sandbox.local/v1',
  protocol: 'openai',
  key: null,
  roles: OWN_MODELS,
  isFree: true,
  pricedFields: NO_PRICED_FIELDS,
  models: {},
}
