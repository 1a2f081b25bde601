import { mount } from './app';
import { carrierOfThisWindow } from './client';

mount(carrierOfThisWindow());
