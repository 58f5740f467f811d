import 'reflect-metadata';
import { adminProcess } from '@rookery/admin';
import { collaborationProcess } from '@rookery/collaboration';
import { gatewayProcess } from '@rookery/gateway';
import { identityProcess } from '@rookery/identity';
import { importProcess } from '@rookery/import';
import { packageProcess } from '@rookery/package';
import { bootTogether } from '@rookery/platform';

// The gateway first: it stops before the services that its requests need.
void bootTogether([gatewayProcess, identityProcess, collaborationProcess, importProcess, packageProcess, adminProcess]);
