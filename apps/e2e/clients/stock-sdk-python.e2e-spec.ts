import { itWorksWithSdk } from '../support/sdk-suite';

describe('the unmodified python-gitlab', () => {
  itWorksWithSdk({ packages: ['python3-gitlab'], run: ['/usr/bin/python3', '-B', 'python-gitlab.py'] });
});
