import { quotaStoresContract } from './quota-stores.contract.ts';
import { simulatedQuotaStores } from './quota-stores-setup.ts';

quotaStoresContract(simulatedQuotaStores);
