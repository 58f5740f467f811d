import './missing.mjs';
