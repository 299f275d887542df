import { createHash } from "node:crypto";

export const style = `
:root{color-scheme:light dark;--text:#1b1b1b;--soft:#595959;--back:#fff;--box:#f4f4f4;--line:#d6d6d6;--link:#0b57d0;--good:#1e6b2a;--bad:#a8201a;--mild:#735800}
@media(prefers-color-scheme:dark){:root{--text:#e8e8e8;--soft:#a8a8a8;--back:#161616;--box:#232323;--line:#3a3a3a;--link:#8ab4f8;--good:#7bd88f;--bad:#ff8a80;--mild:#e6c35c}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:68rem;padding:1rem;color:var(--text);background:var(--back)}
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{margin:.4rem 0;overflow-wrap:anywhere}a{color:var(--link)}
.counts{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:1rem 0;padding:0}.counts li{background:var(--box);border-radius:.4rem;padding:.3rem .8rem}.counts b{font-size:1.3rem;margin-right:.3rem}
table{border-collapse:collapse}td,th{padding:.15rem .7rem .15rem 0;text-align:right;border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}
.filter{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;position:sticky;top:0;background:var(--back);padding:.6rem 0;border-bottom:1px solid var(--line);z-index:1}
.filter label{display:flex;gap:.3rem;align-items:center}.filter input,.filter select,button{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:.3rem;padding:.2rem .5rem}.filter input[type=search]{width:14rem;max-width:100%}
summary h2{display:inline}details.group{margin:.8rem 0}details.group.inner{margin:.2rem 0 .8rem 1.2rem;font-size:.93rem}details.clause{border-bottom:1px solid var(--line);padding:.35rem 0}details{scroll-margin-top:4rem}summary{cursor:pointer;overflow-wrap:anywhere}
.id{font-weight:600;white-space:nowrap}.state{font:600 12px ui-monospace,monospace;white-space:nowrap}.good{color:var(--good)}.bad{color:var(--bad)}.mild{color:var(--mild)}.soft{color:var(--soft)}
dl{margin:.4rem 0 .4rem 1rem;display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem .8rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.inner{margin:.3rem 0 .6rem 1rem}code,pre{font:12.5px/1.45 ui-monospace,monospace;background:var(--box);border-radius:.2rem}code{padding:.05rem .2rem;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.6rem;margin:.3rem 0;max-height:26rem;overflow:auto}
[hidden]{display:none!important}@media(max-width:500px){.filter{position:static}dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:.3rem}}
@media print{.filter,button{display:none}}`;

/** Filters by state, chapter and text, and copies commands. Without it the page shows everything. */
const script = `
const form=document.querySelector(".filter"),all=[...document.querySelectorAll("details.clause")],groups=[...document.querySelectorAll("details.group")];
const wasOpen=groups.map((group)=>group.open);
const apply=()=>{const state=form.state.value,chapter=form.chapter.value,text=form.text.value.trim().toLowerCase();
const isFiltered=state!==""||chapter!==""||text!=="";let count=0;
for(const one of all){const fits=(state===""||one.dataset.state===state)&&(chapter===""||one.dataset.chapter===chapter)&&(text===""||one.textContent.toLowerCase().includes(text));
one.hidden=!fits;if(fits)count+=1;}
groups.forEach((group,index)=>{const fits=group.querySelector("details.clause:not([hidden])")!==null;group.open=isFiltered?fits:wasOpen[index];group.hidden=isFiltered&&!fits&&group.querySelector("details.clause")!==null;});
form.querySelector("output").textContent=isFiltered?count+" of "+all.length+" clauses":"";};
form.hidden=false;form.addEventListener("input",apply);form.addEventListener("submit",(event)=>event.preventDefault());
const openTarget=()=>{const target=location.hash===""?null:document.getElementById(decodeURIComponent(location.hash.slice(1)));
for(let one=target;one!==null&&one!==undefined;one=one.parentElement)if(one.tagName==="DETAILS"){one.open=true;one.hidden=false;}target?.scrollIntoView();};
addEventListener("hashchange",openTarget);openTarget();
document.addEventListener("click",async(event)=>{const button=event.target.closest("button.copy");if(!button)return;
const text=button.nextElementSibling.textContent;
try{await navigator.clipboard.writeText(text);button.textContent="Copied";}catch{const range=document.createRange();range.selectNodeContents(button.nextElementSibling);getSelection().removeAllRanges();getSelection().addRange(range);button.textContent="Selected";}
setTimeout(()=>{button.textContent="Copy";},1500);});
for(const button of document.querySelectorAll("button.copy"))button.hidden=false;`;

const hash = createHash("sha256").update(script).digest("base64");

/** The page runs this script and no other, and loads nothing. */
export const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'`;
export const scriptTag = `<script>${script}</script>`;
