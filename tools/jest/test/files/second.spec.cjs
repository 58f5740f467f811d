require('./leaves-traces.cjs');
