import { billingKills } from './billing-kills.ts'

billingKills(6)
