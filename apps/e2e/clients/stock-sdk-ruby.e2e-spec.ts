import { itWorksWithSdk } from '../support/sdk-suite';

describe('the unmodified Ruby client', () => {
  itWorksWithSdk({ packages: ['ruby-gitlab'], run: ['/usr/bin/ruby', 'gitlab.rb'] });
});
